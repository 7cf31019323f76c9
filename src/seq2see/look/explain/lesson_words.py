"""What the lesson says, once in English and once in Korean. Names in braces are filled in with computed numbers."""

from dataclasses import dataclass


@dataclass(frozen=True)
class LessonText:
    """One language. Each field is a paragraph or a title of lesson.py."""

    opening: str
    vectors_title: str
    vectors: str
    projections_title: str
    projections: str
    projected: str
    scores_title: str
    scores: str
    all_scores: str
    scaling_title: str
    scaling: str
    softmax_title: str
    softmax: str
    softmax_rows: tuple[str, str, str, str]
    total: str
    all_weights: str
    sum_title: str
    sum: str
    sum_row: str
    all_sums: str
    in_one_line: str
    masked_title: str
    masked: str
    after_masked: str
    heads_title: str
    heads: str
    head: str
    after_heads: str
    end_title: str
    end: str
    go_on: str


ENGLISH = LessonText(
    opening="Attention, step by step, on the sentence: i am a student",
    vectors_title="Words as vectors",
    vectors=(
        "A model does not read words, it computes with numbers. Here each word is a vector of {width} numbers, and the "
        "four vectors are the rows of a matrix X. (A real model learns these numbers, and has hundreds of them for "
        "every word.)"
    ),
    projections_title="Query, key and value",
    projections=(
        "Every word plays three parts. As a query it asks: what do I need? As a key it tells others what can be found "
        "here. As a value it is what they take home. Three learned matrices make the three out of X:"
    ),
    projected="Multiplied, they give a query, a key and a value for every word:",
    scores_title="Scores: every query meets every key",
    scores=(
        "How well does a key answer a query? Their dot product tells: multiply the two vectors number by number, and "
        "add up. For the query of '{asking}' and the key of '{asked}':"
    ),
    all_scores="All of them at once are one product of matrices. A row is a query, a column is a key:",
    scaling_title="Scaling",
    scaling=(
        "The more numbers a vector has, the larger such sums become, and a softmax of large numbers is almost all or "
        "nothing. So the scores are divided by the square root of the width, sqrt({width}) = {root}:"
    ),
    softmax_title="Softmax: from scores to weights",
    softmax=(
        "The softmax makes weights of each row: all positive, and together 1. For the row '{asking}': take away the "
        "largest score (this changes nothing in the end, and keeps the numbers small), take exp, divide by the sum."
    ),
    softmax_rows=("score", "- largest", "exp", "weight"),
    total="The sum of the row 'exp' is {total}.",
    all_weights=(
        "The same for every row gives the matrix of attention. Read it across: '{asking}' looks at '{first}' with "
        "{first_weight} and at '{second}' with {second_weight}."
    ),
    sum_title="Weighted sum: what is taken home",
    sum=(
        "Now the values. '{asking}' takes a little of each of them, as much as its weights say, and adds it up. The "
        "sum is its new vector, its context:"
    ),
    sum_row="sum",
    all_sums="For all words at once:",
    in_one_line="That is attention. In one line:",
    masked_title="Masked self-attention: not looking ahead",
    masked=(
        "A decoder writes from left to right and must not see words that are not written yet. Their scores are hidden "
        "before the softmax (--), and their weights are exactly 0."
    ),
    after_masked=(
        "The first word, '{first}', has only itself to look at: its weight is {only}. The last row is as it was, for "
        "nothing stands behind the last word."
    ),
    heads_title="Several heads",
    heads=(
        "One softmax is one way of looking: '{asking}' had to share its look between '{first}' and '{second}'. Two "
        "heads cut the columns of Q, K and V in two, {half} numbers for each head. Each head has scores, a softmax "
        "and a sum of its own, and divides by sqrt({half})."
    ),
    head="head",
    after_heads=(
        "Now '{asking}' looks at '{word_0}' with {weight_0} in head 0, and at '{word_1}' with {weight_1} in head 1. "
        "What the heads take home is put side by side, and a last learned matrix, W_O, mixes it."
    ),
    end_title="And now a real one",
    end="That is all there is to it. The same walk through a model of your own, with its own numbers:",
    go_on="[Enter] goes on",
)

KOREAN = LessonText(
    opening="어텐션, 한 걸음씩: i am a student",
    vectors_title="단어를 벡터로",
    vectors=(
        "모델은 단어를 읽는 것이 아니라 숫자로 계산합니다. 여기서는 단어 하나를 숫자 {width}개로 된 벡터로 "
        "나타내고, 네 벡터를 한 줄씩 쌓아 행렬 X를 만듭니다. (실제 모델은 이 숫자들을 학습으로 얻으며, 단어마다 "
        "수백 개의 숫자를 씁니다.)"
    ),
    projections_title="쿼리, 키, 밸류",
    projections=(
        "모든 단어는 세 가지 역할을 합니다. 쿼리(query)일 때는 '나에게 무엇이 필요한가'를 묻고, 키(key)일 때는 "
        "'여기에서 무엇을 찾을 수 있는가'를 알리며, 밸류(value)는 실제로 가져가는 내용입니다. 학습으로 얻은 세 "
        "행렬이 X에서 이 셋을 만듭니다."
    ),
    projected="행렬을 곱하면 단어마다 쿼리, 키, 밸류가 하나씩 생깁니다.",
    scores_title="점수: 모든 쿼리가 모든 키를 만나다",
    scores=(
        "어떤 키가 쿼리의 물음에 얼마나 잘 맞는지는 두 벡터의 내적이 알려 줍니다. 같은 자리의 숫자끼리 곱해서 모두 "
        "더합니다. '{asking}'의 쿼리와 '{asked}'의 키로 계산하면 다음과 같습니다."
    ),
    all_scores="이 계산을 한꺼번에 하면 행렬 곱 하나가 됩니다. 행은 쿼리이고 열은 키입니다.",
    scaling_title="스케일링",
    scaling=(
        "벡터의 차원이 클수록 이런 합도 커지고, 큰 숫자에 소프트맥스를 적용하면 가중치가 거의 한 곳에만 쏠립니다. "
        "그래서 점수를 차원의 제곱근으로 나눕니다. 여기서는 sqrt({width}) = {root}입니다."
    ),
    softmax_title="소프트맥스: 점수에서 가중치로",
    softmax=(
        "소프트맥스는 각 행을 가중치로 바꿉니다. 가중치는 모두 양수이고 더하면 1입니다. '{asking}' 행을 예로 들면, "
        "먼저 가장 큰 점수를 빼고(결과는 달라지지 않으며 숫자가 커지는 것을 막아 줍니다), exp를 취한 다음, 그 "
        "합으로 나눕니다."
    ),
    softmax_rows=("점수", "- 최댓값", "exp", "가중치"),
    total="'exp' 행의 합은 {total}입니다.",
    all_weights=(
        "모든 행에 똑같이 하면 어텐션 행렬이 됩니다. 가로로 읽으면 '{asking}' 행은 '{first}'에 {first_weight}, "
        "'{second}'에 {second_weight}의 가중치를 둡니다."
    ),
    sum_title="가중합: 가져가는 내용",
    sum=(
        "이제 밸류를 쓸 차례입니다. '{asking}' 행은 모든 밸류를 가중치만큼씩 가져와 더합니다. 그 합이 이 단어의 새 "
        "벡터, 곧 컨텍스트(context)입니다."
    ),
    sum_row="합",
    all_sums="모든 단어에 대해 한꺼번에 계산하면 다음과 같습니다.",
    in_one_line="이것이 어텐션입니다. 한 줄로 쓰면 다음과 같습니다.",
    masked_title="마스크드 셀프 어텐션: 다음 단어를 미리 보지 않기",
    masked=(
        "디코더는 왼쪽에서 오른쪽으로 쓰므로 아직 쓰지 않은 단어를 보면 안 됩니다. 그런 단어의 점수는 소프트맥스를 "
        "적용하기 전에 가리며(--), 가중치는 정확히 0이 됩니다."
    ),
    after_masked=(
        "첫 단어 '{first}'에게는 볼 수 있는 것이 자기 자신뿐이므로 가중치가 {only}입니다. 마지막 단어 뒤에는 "
        "아무것도 없으므로 마지막 행은 가리기 전과 같습니다."
    ),
    heads_title="멀티헤드 어텐션",
    heads=(
        "소프트맥스가 하나이면 보는 방식도 하나입니다. 앞에서 '{asking}' 행은 시선을 '{first}', '{second}' 두 "
        "단어에 나누어야 했습니다. 헤드를 두 개 쓰면 Q, K, V의 열을 둘로 나누어 헤드마다 숫자 {half}개씩 맡습니다. "
        "헤드는 저마다 점수, 소프트맥스, 가중합을 따로 계산하고, 이번에는 sqrt({half})로 나눕니다."
    ),
    head="헤드",
    after_heads=(
        "이제 '{asking}' 행은 헤드 0에서 '{word_0}'에 {weight_0}, 헤드 1에서 '{word_1}'에 {weight_1}의 가중치를 "
        "둡니다. 두 헤드가 가져온 것을 옆으로 이어 붙이고, 마지막으로 학습된 행렬 W_O가 이를 섞습니다."
    ),
    end_title="이제 진짜 모델로",
    end="이것이 전부입니다. 직접 학습시킨 모델의 숫자로 같은 과정을 보려면 다음 명령을 실행하십시오.",
    go_on="[Enter]를 누르면 계속합니다",
)
