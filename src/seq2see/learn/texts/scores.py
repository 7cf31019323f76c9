"""The words of the lesson *scores*."""

from seq2see.learn.wording import Wording

TITLE = Wording("Six scores, and why 1/sqrt(d)", "여섯 가지 점수, 그리고 sqrt(d)로 나누는 까닭")
SUMMARY = Wording(
    "dot, scaled dot, general, additive, cosine, location; why sqrt(d)",
    "dot, scaled dot, general, additive, cosine, location과 sqrt(d)의 까닭",
)
QUESTION = Wording(
    "Every attention needs one number for each pair of query and key. The papers propose different ones. What does "
    "each of them see in the same query and the same keys, and why is one of them divided by sqrt(d)?",
    "어텐션(attention)에는 쿼리(query)와 키(key)의 짝마다 숫자가 하나 필요합니다. 논문마다 다른 점수(score)를 "
    "제안합니다. 같은 쿼리와 같은 키에서 각 점수는 무엇을 보며, 왜 그중 하나는 sqrt(d)로 나눕니까?",
)

SAME_TITLE = Wording("The same query, the same keys", "같은 쿼리, 같은 키")
SAME = Wording(
    "The query is s = {query}; there are {count} keys, {keys}. Learned matrices are set by hand: for *general* W = "
    "{general}, for *additive* W1 = {w1}, W2 = {w2} and v = {v}, for *location* a row for each place, {location}. "
    "For the first key h = {first}:",
    "쿼리는 s = {query}이고, 키는 {keys}의 {count}개입니다. 학습되는 행렬은 손으로 정했습니다. *general*은 W = "
    "{general}, *additive*는 W1 = {w1}, W2 = {w2}, v = {v}, *location*은 자리마다 한 행씩 {location}입니다. 첫째 키 "
    "h = {first}로 계산하면 다음과 같습니다.",
)
ALL = Wording("The scores of all keys:", "모든 키의 점수는 다음과 같습니다.")
WEIGHTS = Wording(
    "And what the softmax makes of each row:",
    "각 행에 소프트맥스(softmax)를 적용하면 다음과 같습니다.",
)
NAME = Wording("score", "점수")
WEIGHT_NAME = Wording("weight", "가중치(weight)")
READ = Wording(
    "The key with the largest weight: {winners}. *dot* grows with the length of a key. *cosine* ignores the lengths "
    "and compares directions alone; it stays between -1 and 1, so its weights stay close together ({cosine_low:.2f} "
    "to {cosine_high:.2f}). *general* can learn to compare one number of s with another of h; *additive* is a small "
    "network.",
    "가중치가 가장 큰 키는 다음과 같습니다. {winners}. *dot*은 키가 길수록 커집니다. *cosine*은 길이를 무시하고 방향만 "
    "비교합니다. 코사인(cosine)은 -1과 1 사이를 벗어나지 않으므로 가중치가 서로 가깝습니다({cosine_low:.2f} ~ "
    "{cosine_high:.2f}). *general*은 s의 한 숫자를 h의 다른 숫자와 비교하도록 학습할 수 있고, *additive*는 작은 "
    "신경망입니다.",
)
WINNER = Wording("{name}: {key}", "{name}: {key}")
BLIND_TITLE = Wording("One of them does not look", "보지 않는 점수")
BLIND = Wording(
    "Now the keys change places: the last comes first. The weights of every score that looks at keys move with them. "
    "*location* gives each place the weight it had before: it knows where to look, not at what.",
    "이제 키의 자리를 바꾸어 마지막 키를 맨 앞으로 보냅니다. 키를 보는 점수는 모두 키를 따라 움직입니다. "
    "*location*은 각 자리에 전과 같은 가중치를 둡니다. 무엇을 볼지가 아니라 어디를 볼지만 알기 때문입니다.",
)
MOVED = Wording("weight, moved", "옮긴 뒤")
BLIND_READ = Wording(
    "Largest change of a weight that stays with its key: {others:.3f} for the five others, {location:.3f} for "
    "*location*.",
    "키를 따라간 가중치의 가장 큰 변화는 나머지 다섯에서 {others:.3f}, *location*에서 {location:.3f}입니다.",
)

VARIANCE_TITLE = Wording("Why sqrt(d): sums grow with the width", "sqrt(d)의 까닭: 차원이 크면 합도 커진다")
VARIANCE = Wording(
    "A dot product is a sum of d terms. If the numbers of q and k are independent with mean 0 and variance 1, each "
    "term has variance 1 and the sum has variance d. Measured on {samples:,} random pairs of each width (seed "
    "{seed}), with matrices as they are before training:",
    "내적(dot product)은 d개 항의 합입니다. q와 k의 숫자들이 서로 독립이고 평균 0, 분산(variance) 1이면 각 항의 "
    "분산은 1이고 합의 분산은 d입니다. 차원마다 무작위 쌍 {samples:,}개로, 학습하기 전의 행렬을 써서 "
    "재었습니다(시드(seed) {seed}).",
)
VARIANCE_CHART = Wording("variance of the scores", "점수의 분산")
WIDTH = Wording("width d", "차원 d")
WIDTH_STEPS = Wording("width d, each step four times the last", "차원 d, 한 칸마다 네 배")
VARIANCE_READ = Wording(
    "At d = {width} the variance of the dot product is {dot:.1f}, and divided by sqrt(d) it is {scaled:.3f}. The "
    "formula of *general* has {general:.3f} there, *additive* {additive:.3f}, *cosine* {cosine:.4f}. So our models "
    "divide *general* by sqrt(d) as well, and multiply *cosine* by a learned number. (In a trained model the numbers "
    "are neither independent nor of variance 1; the argument is about how training begins.)",
    "d = {width}에서 내적의 분산은 {dot:.1f}이고, sqrt(d)로 나누면 {scaled:.3f}입니다. 공식 그대로 계산하면 "
    "*general*이 {general:.3f}, *additive*가 {additive:.3f}, *cosine*이 {cosine:.4f}입니다. 그래서 우리 모델은 "
    "*general*도 sqrt(d)로 나누고, *cosine*에는 학습되는 수를 곱합니다. (학습된 모델의 숫자들은 서로 독립도 아니고 "
    "분산이 1도 아닙니다. 이 논증은 학습이 어떻게 시작되는지에 대한 것입니다.)",
)

SATURATED_TITLE = Wording("What large scores do to the softmax", "큰 점수가 소프트맥스에 하는 일")
SATURATED = Wording(
    "A query looks at {keys} random keys. The largest weight of the softmax, and the size of its gradient (the norm "
    "of the matrix d weight / d score), both as the mean of {queries:,} queries:",
    "쿼리 하나가 무작위 키 {keys}개를 봅니다. 소프트맥스의 가장 큰 가중치와 기울기(gradient)의 크기(행렬 d weight / "
    "d score의 노름)를 쿼리 {queries:,}개의 평균으로 보입니다.",
)
COLUMN_LARGEST = Wording("largest, dot", "최대, dot")
COLUMN_LARGEST_SCALED = Wording("largest, scaled", "최대, scaled")
COLUMN_GRADIENT = Wording("gradient, dot", "기울기, dot")
COLUMN_GRADIENT_SCALED = Wording("gradient, scaled", "기울기, scaled")
GRADIENT_CHART = Wording("gradient that comes through the softmax", "소프트맥스를 지나오는 기울기")
SATURATED_READ = Wording(
    "At d = {width} the plain dot product puts {largest:.0%} of the weight on one key before anything is learned, "
    "and the gradient has shrunk from {first:.3f} (d = {first_width}) to {gradient:.3f}. With 1/sqrt(d) it stays "
    "between {low:.3f} and {high:.3f} at every width.",
    "d = {width}이면 나누지 않은 내적은 아무것도 배우기 전에 이미 가중치의 {largest:.0%}를 키 하나에 몰아 두고, "
    "기울기는 {first:.3f}(d = {first_width}) → {gradient:.3f}입니다. sqrt(d)로 나누면 어느 차원에서나 {low:.3f}와 "
    "{high:.3f} 사이입니다.",
)

ANSWER = Wording(
    "Each score measures another kind of fit: a product, a learned product, a small network, an angle, a place. A "
    "plain product grows with the width: at d = {width} its variance is {dot:.0f}, the softmax saturates, and "
    "{share:.0%} of the gradient is left. Dividing by sqrt(d) brings the variance back to {scaled:.2f}.",
    "점수마다 '잘 맞는다'는 것을 다르게 봅니다. 곱, 학습된 곱, 작은 신경망, 각도, 자리가 그것입니다. 그냥 곱하면 "
    "차원과 함께 커집니다. d = {width}일 때 분산이 {dot:.0f}이고, 소프트맥스가 포화(saturation)되어 기울기는 "
    "{share:.0%}만 남습니다. sqrt(d)로 나누면 분산은 다시 {scaled:.2f}입니다.",
)
TRY_QUERY = Wording(
    "Another query: for which scores does another key win?",
    "다른 쿼리를 넣어 보십시오. 어느 점수에서 이기는 키가 바뀝니까?",
)
TRY_KEYS = Wording(
    "A longer sentence, 100 keys: does the softmax of plain products saturate later?",
    "키를 100개로 늘려 보십시오. 나누지 않은 내적의 소프트맥스는 더 늦게 포화됩니까?",
)
TRY_SEED = Wording(
    "Other random numbers: the figures move a little, the lines do not.",
    "난수를 바꾸어 보십시오. 숫자는 조금 움직이지만 선은 그대로입니다.",
)
ORIGIN_BAHDANAU = Wording("the additive score", "additive 점수")
ORIGIN_LUONG = Wording(
    "dot, general, concat (the additive one) and location",
    "dot, general, concat(곧 additive), location",
)
ORIGIN_GRAVES = Wording("cosine with a sharpness", "날카로움이 있는 cosine")
ORIGIN_VASWANI = Wording(
    "1/sqrt(d_k), and the argument with the variance in its footnote 4",
    "1/sqrt(d_k)와, 각주 4의 분산 논증",
)
