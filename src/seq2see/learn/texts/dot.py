"""The words of the lesson *dot*."""

from seq2see.learn.wording import Wording

TITLE = Wording("Similarity as a product, softmax as a mixture", "곱으로 재는 닮음, 섞는 비율로서의 소프트맥스")
SUMMARY = Wording(
    "how similar two vectors are, and how scores become shares",
    "두 벡터가 얼마나 닮았는지, 점수가 어떻게 비율이 되는지",
)

QUESTION = Wording(
    "Attention asks again and again: which of these vectors is most like this one? How can a computer answer that "
    "with nothing but multiplications and additions, and what does it do with the answer?",
    "어텐션(attention)은 '이 벡터(vector)들 가운데 어느 것이 이 벡터와 가장 닮았는가'를 되풀이해서 묻습니다. 곱셈과 "
    "덧셈만으로 어떻게 답할 수 있으며, 그 답으로 무엇을 합니까?",
)

PRODUCT_TITLE = Wording("Multiply and add", "곱해서 더하기")
PRODUCT = Wording(
    "The dot product of two vectors: multiply them number by number, and add up. The query {query} meets {count} keys:",
    "두 벡터의 내적(dot product)은 같은 자리의 숫자끼리 곱해서 모두 더한 값입니다. 쿼리(query)는 {query}이고, "
    "키(key) {count}개를 만납니다.",
)
PRODUCT_READ = Wording(
    "{best} gets the highest score, {best_score:g}; {worst} gets the lowest, {worst_score:g}. A positive product means "
    "that both point to the same side, a negative one that the angle between them is larger than 90 degrees.",
    "점수가 가장 높은 것은 {best}의 {best_score:g}이고, 가장 낮은 것은 {worst}의 {worst_score:g}입니다. 내적이 "
    "양수이면 두 벡터가 같은 쪽을 향하고, 음수이면 사잇각이 90도보다 큽니다.",
)
PLANE = Wording("second number", "둘째 숫자")
ACROSS = Wording("first number", "첫째 숫자")
QUERY = Wording("query {vector}", "쿼리 {vector}")
KEY = Wording("key {vector}", "키 {vector}")

ANGLE_TITLE = Wording("What the product measures", "내적이 재는 것")
ANGLE = Wording(
    "The same number is the length of one vector, times the length of the other, times the cosine of the angle "
    "between them. So it grows with the lengths, not only with the similarity of direction. The cosine alone, from -1 "
    "to 1, ignores the lengths:",
    "같은 값을 '한 벡터의 길이 x 다른 벡터의 길이 x 사잇각의 코사인(cosine)'으로도 쓸 수 있습니다. 그러므로 내적은 "
    "닮을수록 커질 뿐 아니라 벡터가 길어도 커집니다. 코사인만 쓰면 길이는 빠지고 -1에서 1 사이의 값이 됩니다.",
)
COLUMN_KEY = Wording("key", "키")
COLUMN_LENGTHS = Wording("length", "길이")
COLUMN_COSINE = Wording("cosine", "코사인")
COLUMN_ANGLE = Wording("angle", "각도")
COLUMN_PRODUCT = Wording("|q| |k| cos", "|q| |k| cos")
ANGLE_READ = Wording(
    "The query has length {length:.3f}. The last column is the product of the three, and is the dot product again.",
    "쿼리의 길이는 {length:.3f}입니다. 마지막 열은 세 값을 곱한 것이며, 앞의 내적과 같습니다.",
)

SOFTMAX_TITLE = Wording("From scores to shares", "점수에서 비율로")
SOFTMAX = Wording(
    "The softmax makes shares of the scores: exp of each, divided by their sum. All are positive, and together they "
    "are {total:.2f}. The largest score is taken away first; that changes no share and keeps exp small.",
    "소프트맥스(softmax)는 점수마다 exp를 취하고 그 합으로 나누어 비율로 만듭니다. 모두 양수이고 더하면 "
    "{total:.2f}입니다. 먼저 가장 큰 점수를 빼는데, 비율은 달라지지 않고 exp가 커지는 것만 막습니다.",
)
COLUMN_SCORE = Wording("score", "점수")
COLUMN_SHIFTED = Wording("- largest", "- 최댓값")
COLUMN_EXP = Wording("exp", "exp")
COLUMN_WEIGHT = Wording("weight", "가중치")
SOFTMAX_READ = Wording(
    "The two highest scores differ by {lead:g}, so their weights differ by a factor of exp({lead:g}) = {factor:,.1f}.",
    "가장 높은 두 점수의 차이가 {lead:g}이므로 가중치는 exp({lead:g}) = {factor:,.1f}배 차이가 납니다.",
)

MIXTURE_TITLE = Wording("Weights make a mixture", "가중치로 섞기")
MIXTURE = Wording(
    "Each key has a value: the content that is read. The weights say how much of each value goes into the mixture. "
    "This is a look-up that is not all or nothing, so that a gradient can flow through it.",
    "키마다 실제로 읽어 갈 내용인 밸류(value)가 있습니다. 가중치(weight)만큼씩 밸류를 섞습니다. 하나만 고르는 것이 "
    "아니라 비율대로 섞어 읽으므로 기울기(gradient)가 흐를 수 있습니다.",
)
MIXTURE_ROW = Wording("mixture", "섞은 결과")
SHARPNESS = Wording(
    "How sharp the weights are depends on the size of the scores. Multiplied by a sharpness, the same scores give "
    "anything between a plain mean and a single choice:",
    "얼마나 한쪽으로 쏠리는지는 점수의 크기에 달려 있습니다. 같은 점수에 날카로움(sharpness)을 곱하면 단순한 "
    "평균에서 하나만 고르는 것까지 무엇이든 됩니다.",
)
SHARPNESS_ROW = Wording("x {sharpness:g}", "x {sharpness:g}")
SHARPNESS_NAME = Wording("sharpness", "날카로움")
SHARPNESS_READ = Wording(
    "With sharpness 0 every weight is {even:.3f}: the mean of all. That is why the size of scores matters, and why "
    "the lesson *scores* divides them by sqrt(d).",
    "날카로움이 0이면 가중치가 모두 {even:.3f}, 곧 전체의 평균입니다. 그래서 점수의 크기가 중요하며, *scores* "
    "강의에서는 점수를 sqrt(d)로 나눕니다.",
)

ANSWER = Wording(
    "Dot products score how similar each key is to the query ({scores}), the softmax turns the scores into shares "
    "({weights}), and the shares mix the values into one vector: {mixture}. That is all of attention but its learned "
    "matrices.",
    "내적으로 각 키가 쿼리와 얼마나 닮았는지 점수({scores})를 매기고, 소프트맥스로 점수를 비율({weights})로 바꾸고, "
    "그 비율로 밸류를 섞어 벡터 하나를 얻습니다: {mixture}. 학습되는 행렬만 빼면 이것이 어텐션의 전부입니다.",
)

TRY_QUERY = Wording(
    "Turn the query round: which key wins now, and what is mixed?",
    "쿼리의 방향을 돌려 보십시오. 이제 어느 키가 이기고, 무엇이 섞입니까?",
)
TRY_SHARPNESS = Wording(
    "Make all scores small: the choice becomes a mean.",
    "점수를 모두 작게 해 보십시오. 선택이 평균으로 바뀝니다.",
)

ORIGIN_SOFTMAX = Wording(
    "the softmax of similarities as an address in a memory",
    "유사도의 소프트맥스로 메모리의 주소를 정하기",
)
ORIGIN_LUONG = Wording("the score 'dot'", "점수 'dot'")
ORIGIN_VASWANI = Wording("the same, divided by sqrt(d_k)", "같은 것을 sqrt(d_k)로 나눈 점수")
