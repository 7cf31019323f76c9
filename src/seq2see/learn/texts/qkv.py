"""The words of the lesson *qkv*."""

from seq2see.learn.wording import Wording

TITLE = Wording("Query, key and value: i am a student", "쿼리, 키, 밸류: i am a student")
SUMMARY = Wording(
    "'i am a student' through Q, K and V, with a pencil",
    "'i am a student'의 Q, K, V를 손으로 계산하듯이",
)

QUESTION = Wording(
    "What exactly does a model compute when a word 'looks at' other words? Here is one sentence with every number "
    "along the way, small enough to follow with a pencil.",
    "단어가 다른 단어를 '본다'고 할 때 모델은 정확히 무엇을 계산합니까? 연필로 따라갈 수 있을 만큼 작은 숫자로, 문장 "
    "하나의 모든 과정을 보여 드립니다.",
)

VECTORS_TITLE = Wording("Words as vectors", "단어를 벡터로")
VECTORS = Wording(
    "A model does not read words, it computes with numbers. Here each word is a vector of {width} numbers, and the "
    "four vectors are the rows of a matrix X. (A real model learns these numbers, and has hundreds of them for every "
    "word.)",
    "모델은 단어를 읽는 것이 아니라 숫자로 계산합니다. 여기서는 단어 하나를 숫자 {width}개로 된 벡터(vector)로 "
    "나타내고, 네 벡터를 한 줄씩 쌓아 행렬 X를 만듭니다. (실제 모델은 이 숫자들을 학습으로 얻으며, 단어마다 수백 "
    "개의 숫자를 씁니다.)",
)

PROJECTIONS_TITLE = Wording("Query, key and value", "쿼리, 키, 밸류")
PROJECTIONS = Wording(
    "Every word plays three parts. As a query it asks: what do I need? As a key it tells others what can be found "
    "here. As a value it is what they read. Three learned matrices make the three out of X:",
    "모든 단어는 세 가지 역할을 합니다. 쿼리(query)일 때는 '나에게 무엇이 필요한가'를 묻고, 키(key)일 때는 '여기에서 "
    "무엇을 찾을 수 있는가'를 알리며, 밸류(value)일 때는 다른 단어가 실제로 읽어 가는 내용이 됩니다. 학습으로 얻은 세 "
    "행렬이 X에서 이 셋을 만듭니다.",
)
PROJECTED = Wording(
    "Multiplied, they give a query, a key and a value for every word:",
    "행렬을 곱하면 단어마다 쿼리, 키, 밸류가 하나씩 생깁니다.",
)

SCORES_TITLE = Wording("Scores: every query meets every key", "점수: 모든 쿼리가 모든 키를 만나다")
SCORES = Wording(
    "How well does a key answer a query? Their dot product tells: multiply the two vectors number by number, and add "
    "up. For the query of '{asking}' and the key of '{asked}':",
    "어떤 키가 쿼리의 물음에 얼마나 잘 맞는지는 두 벡터의 내적(dot product)이 알려 줍니다. 같은 자리의 숫자끼리 "
    "곱해서 모두 더합니다. '{asking}'의 쿼리와 '{asked}'의 키로 계산하면 다음과 같습니다.",
)
ALL_SCORES = Wording(
    "All of them at once are one product of matrices. A row is a query, a column is a key:",
    "이 계산을 한꺼번에 하면 행렬 곱 하나가 됩니다. 행은 쿼리이고 열은 키입니다.",
)

SCALING_TITLE = Wording("Scaling", "스케일링")
SCALING = Wording(
    "The more numbers a vector has, the larger such sums become, and a softmax of large numbers is almost all or "
    "nothing. So the scores are divided by the square root of the width, sqrt({width}) = {root:.2f}:",
    "벡터의 차원이 클수록 이런 합도 커지고, 큰 숫자에 소프트맥스(softmax)를 적용하면 가중치가 거의 한 곳에만 "
    "쏠립니다. 그래서 점수를 차원의 제곱근으로 나눕니다. 이것을 스케일링(scaling)이라고 합니다. 여기서는 "
    "sqrt({width}) = {root:.2f}입니다.",
)

SOFTMAX_TITLE = Wording("Softmax: from scores to weights", "소프트맥스: 점수에서 가중치로")
SOFTMAX = Wording(
    "The softmax makes weights of each row: all positive, and together 1. For the row '{asking}': take away the "
    "largest score (this changes nothing in the end, and keeps the numbers small), take exp, divide by the sum.",
    "소프트맥스는 각 행을 가중치(weight)로 바꿉니다. 가중치는 모두 양수이고 더하면 1입니다. '{asking}' 행을 예로 "
    "들면, 먼저 가장 큰 점수를 빼고(결과는 달라지지 않으며 숫자가 커지는 것을 막아 줍니다), exp를 취한 다음, 그 "
    "합으로 나눕니다.",
)
SOFTMAX_NAME = Wording("softmax, {asking}", "softmax, {asking}")
ROW_SCORE = Wording("score", "점수")
ROW_SHIFTED = Wording("- largest", "- 최댓값")
ROW_EXP = Wording("exp", "exp")
ROW_WEIGHT = Wording("weight", "가중치")
TOTAL = Wording("The sum of the row 'exp' is {total:.3f}.", "'exp' 행의 합은 {total:.3f}입니다.")
ALL_WEIGHTS = Wording(
    "The same for every row gives the matrix of attention. Read it across: '{asking}' looks at '{first}' with "
    "{first_weight:.2f} and at '{second}' with {second_weight:.2f}.",
    "모든 행에 똑같이 하면 어텐션(attention) 행렬이 됩니다. 가로로 읽으면 '{asking}' 행은 '{first}'에 "
    "{first_weight:.2f}, '{second}'에 {second_weight:.2f}의 가중치를 둡니다.",
)

SUM_TITLE = Wording("Weighted sum: what is read", "가중합: 읽어 가는 내용")
SUM = Wording(
    "Now the values. '{asking}' takes a little of each of them, as much as its weights say, and adds it up. The sum "
    "is its new vector, its context:",
    "이제 밸류를 쓸 차례입니다. '{asking}' 행은 모든 밸류를 가중치만큼씩 가져와 더합니다. 그 합이 이 단어의 새 벡터, "
    "곧 컨텍스트(context)입니다.",
)
SUM_ROW = Wording("sum", "합")
ALL_SUMS = Wording("For all words at once:", "모든 단어에 대해 한꺼번에 계산하면 다음과 같습니다.")
IN_ONE_LINE = Wording("That is attention. In one line:", "이것이 어텐션입니다. 한 줄로 쓰면 다음과 같습니다.")

MASKED_TITLE = Wording("Masked self-attention: not looking ahead", "마스크드 셀프 어텐션: 다음 단어를 미리 보지 않기")
MASKED = Wording(
    "A decoder writes from left to right and must not see words that are not written yet. Their scores are hidden "
    "before the softmax (--), and their weights are exactly 0.",
    "디코더(decoder)는 왼쪽에서 오른쪽으로 쓰므로 아직 쓰지 않은 단어를 보면 안 됩니다. 그런 단어의 점수는 "
    "소프트맥스를 적용하기 전에 가리며(--), 가중치는 정확히 0이 됩니다. 이것이 마스크드 셀프 어텐션(masked "
    "self-attention)입니다.",
)
AFTER_MASKED = Wording(
    "The first word, '{first}', has only itself to look at: its weight is {only:.2f}. The last row is as it was, "
    "because no word follows the last one.",
    "첫 단어 '{first}'에게는 볼 수 있는 것이 자기 자신뿐이므로 가중치가 {only:.2f}입니다. 마지막 단어 뒤에는 "
    "아무것도 없으므로 마지막 행은 가리기 전과 같습니다.",
)

HEADS_TITLE = Wording("Several heads", "멀티헤드 어텐션(multi-head attention)")
HEADS = Wording(
    "One softmax is one way of looking: '{asking}' had to share its look between '{first}' and '{second}'. {heads} "
    "heads cut the columns of Q, K and V into {heads} parts, {part} numbers for each head. Each head has scores, a "
    "softmax and a sum of its own, and divides by sqrt({part}).",
    "소프트맥스가 하나이면 보는 방식도 하나입니다. 앞에서 '{asking}' 행은 시선을 '{first}', '{second}' 두 단어에 "
    "나누어야 했습니다. 헤드(head)를 {heads}개 쓰면 Q, K, V의 열을 {heads}개로 나누어 헤드마다 숫자 {part}개씩 "
    "맡습니다. 헤드는 저마다 점수, 소프트맥스, 가중합을 따로 계산하고, 이번에는 sqrt({part})로 나눕니다.",
)
HEAD_NAME = Wording("A, head {head}", "A, 헤드 {head}")
JOINED_NAME = Wording("heads side by side", "이어 붙인 헤드")
HEAD_LOOKS = Wording(
    "In head {head} '{asking}' looks most at '{word}', with {weight:.2f}.",
    "헤드 {head}에서 '{asking}' 행은 '{word}'에 {weight:.2f}로 가장 큰 가중치를 둡니다.",
)
AFTER_HEADS = Wording(
    "What the heads have read is put side by side, and a last learned matrix, W_O, mixes it.",
    "헤드들이 가져온 것을 옆으로 이어 붙이고, 마지막으로 학습된 행렬 W_O가 이를 섞습니다.",
)

CROSS_TITLE = Wording("Cross-attention: the same from another sentence", "크로스 어텐션: 다른 문장에서 묻기")
CROSS = Wording(
    "So far the sentence looked at itself. In translation the queries come from the decoder: here three vectors Y, "
    "what a decoder knows as it is about to say 나는 (I), 학생 (student), 입니다 (am). Keys and values are those of "
    "the English words, as above.",
    "지금까지는 문장이 자기 자신을 보았습니다. 번역에서는 쿼리가 디코더에서 옵니다. 여기서 Y는 디코더가 '나는', "
    "'학생', '입니다'를 막 말하려 할 때의 벡터 세 개입니다. 키와 밸류는 위와 같은 영어 단어의 것입니다. 이것이 "
    "크로스 어텐션(cross-attention)입니다.",
)
CROSS_EQUATION = Wording("Nothing else changes:", "그 밖에는 아무것도 바뀌지 않습니다.")
CROSS_READ = Wording(
    "{looks}. The rows are as many as the target has words, the columns as many as the source has: this is the table "
    "that `seq2see look` draws.",
    "{looks}. 행의 수는 번역문의 단어 수이고 열의 수는 원문의 단어 수입니다. `seq2see look`이 그리는 표가 바로 "
    "이것입니다.",
)
CROSS_LOOK = Wording("{target} looks most at '{source}' ({weight:.2f})", "{target} → '{source}' ({weight:.2f})")

ANSWER = Wording(
    "It compares its query with every key, turns the scores into weights that sum to 1, and returns the weighted "
    "sum of the values: softmax(Q K^T / sqrt(d_k)) V. For '{asking}' that is {first_weight:.2f} of '{first}', "
    "{second_weight:.2f} of '{second}' and {rest:.2f} of the others together.",
    "단어의 쿼리를 모든 키와 견주고, 점수를 합이 1인 가중치로 바꾸고, 밸류의 가중합을 가져갑니다: softmax(Q K^T / "
    "sqrt(d_k)) V. '{asking}'의 경우 '{first}'에서 {first_weight:.2f}, '{second}'에서 {second_weight:.2f}, 나머지 "
    "단어에서 모두 {rest:.2f}만큼 가져갑니다.",
)

TRY_ASKING = Wording("Follow another word through all steps.", "다른 단어를 따라가 보십시오.")
TRY_STRETCH = Wording(
    "Make every query four times as long: the softmax becomes almost all or nothing.",
    "모든 쿼리를 네 배로 길게 해 보십시오. 소프트맥스가 거의 한 곳에만 쏠립니다.",
)
TRY_HEADS = Wording("Cut into four heads, one number each.", "숫자 하나씩, 헤드 네 개로 나누어 보십시오.")

ORIGIN_ATTENTION = Wording(
    "Q, K, V, scaling, mask (3.2.1), several heads (3.2.2), and where each is used (3.2.3)",
    "Q, K, V와 스케일링, 마스크(3.2.1), 멀티헤드(3.2.2), 각각이 쓰이는 곳(3.2.3)",
)
ORIGIN_CROSS = Wording("a decoder that looks at the source, the first one", "원문을 보는 최초의 디코더")
