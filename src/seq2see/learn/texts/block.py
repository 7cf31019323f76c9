"""The words of the lesson *block*."""

from seq2see.learn.wording import Wording

TITLE = Wording("The Transformer's block, part by part", "트랜스포머 블록, 부품 하나씩")
SUMMARY = Wording(
    "positions, residual connections, layer norm, feed-forward; what breaks without each",
    "위치, 잔차 연결, 층 정규화, 피드포워드, 그리고 하나씩 뺐을 때 안 되는 것",
)
QUESTION = Wording(
    "Besides attention a Transformer has four more parts: positions, residual connections, normalisation and a "
    "feed-forward network. Which of them could be left out?",
    "트랜스포머(Transformer)에는 어텐션(attention) 말고도 부품이 네 가지 더 있습니다. 위치(position), 잔차 "
    "연결(residual connection), 정규화(normalization), 피드포워드(feed-forward)입니다. 이 가운데 빼도 되는 것이 "
    "있습니까?",
)

POSITIONS_TITLE = Wording("Positions, pictured", "위치를 그려 보기")
POSITIONS = Wording(
    "Attention sees its keys as a set: their order changes nothing. So a pattern of sines and cosines that differs "
    "from position to position is added to each word vector. A line for each position, a column for each number, the "
    "darker the larger; the left half are sines, the right half cosines, and the wavelength grows from left to right "
    "in each:",
    "어텐션에서 키(key)의 순서는 아무것도 바꾸지 않습니다. 그래서 단어 벡터마다 자리에 따라 다른 사인과 코사인 무늬를 "
    "더합니다. 이것이 위치 인코딩(positional encoding)입니다. 한 줄이 자리 하나, 한 칸이 숫자 하나이며, 진할수록 큰 "
    "값입니다. 왼쪽 절반은 사인, 오른쪽 절반은 코사인이고, 절반마다 오른쪽으로 갈수록 파장이 길어집니다.",
)
POSITIONS_LIKE = Wording(
    "How similar are two positions? Their cosines:",
    "두 자리는 얼마나 비슷합니까? 코사인(cosine)으로 재었습니다.",
)
LIKENESS = Wording("position", "자리")
POSITIONS_READ = Wording(
    "Neighbours are similar ({near:.2f}), positions four apart less ({far:.2f}). All values of a diagonal are equal: "
    "the cosine depends on the distance alone.",
    "이웃한 자리는 비슷하고({near:.2f}), 네 칸 떨어지면 덜 비슷합니다({far:.2f}). 대각선마다 값이 같으므로 코사인은 "
    "거리에만 달려 있습니다.",
)

SIZES_TITLE = Wording("A stack of blocks before training", "학습하기 전에 블록을 쌓으면")
SIZES = Wording(
    "Before training: how long are the vectors after 0, 1, ... blocks of an encoder, how similar is the vector after "
    "{layers} blocks to the word's own (cosine), and how large is the gradient that reaches the word vectors?",
    "학습하기 전입니다. 인코더(encoder) 블록을 0개, 1개, ... 지나면 벡터의 길이가 얼마이고, 블록 {layers}개를 지난 "
    "벡터는 처음 단어 벡터와 얼마나 비슷하며(코사인), 단어 벡터까지 내려오는 기울기(gradient)는 얼마입니까?",
)
COLUMN_MODEL = Wording("model", "모델")
COLUMN_GRADIENT = Wording("gradient", "기울기")
COLUMN_KEPT = Wording("cosine", "코사인")
WHOLE = Wording("whole", "전부 있음")
NO_POSITIONS = Wording("no positions", "위치 없음")
NO_RESIDUAL = Wording("no residual", "잔차 없음")
NO_NORM = Wording("no norm", "정규화 없음")
NO_FEED_FORWARD = Wording("no feed-forward", "피드포워드 없음")
SIZES_READ = Wording(
    "A residual connection adds to a vector instead of replacing it: after {layers} blocks the cosine is {kept:.2f}, "
    "without residual connections {lost:.2f}. Without norms the vectors after the last block are {grown:.1f} times as "
    "long as in the whole model.",
    "잔차 연결은 벡터를 바꾸지 않고 거기에 더합니다. 블록 {layers}개를 지난 뒤 코사인이 {kept:.2f}이고, 잔차 연결이 "
    "없으면 {lost:.2f}입니다. 정규화가 없으면 마지막 블록 뒤의 벡터가 전체 모델의 {grown:.1f}배로 길어집니다.",
)

PARTS_TITLE = Wording("The block in five lines", "다섯 줄로 쓴 블록")
PARTS = Wording(
    "Attention moves information between words; the feed-forward network works on each word by itself, always with "
    "the same matrices. Before each of the two stands a layer norm, after it the residual sum.",
    "어텐션은 단어 사이에서 정보를 옮기고, 피드포워드 신경망은 단어마다 따로, 늘 같은 행렬로 "
    "계산합니다. 둘 다 앞에는 층 정규화(layer normalization)가, 뒤에는 잔차 합이 있습니다.",
)

TRAINED_TITLE = Wording("Trained without one part", "부품 하나를 빼고 학습하면")
TRAINED = Wording(
    "Five models of {layers} + {layers} blocks learn to reverse sequences of 5 to {longest} symbols, {steps} updates "
    "each, from the same initial weights. The loss of a symbol on unseen sequences:",
    "블록이 {layers} + {layers}개인 모델 다섯 개가 기호 5~{longest}개짜리 시퀀스(sequence)를 뒤집는 법을 {steps}번씩 "
    "갱신하며 배웁니다. 초깃값은 모두 같습니다. 본 적 없는 시퀀스에서 기호 하나의 손실(loss)은 다음과 같습니다.",
)
LOSS = Wording("loss of a symbol", "기호 하나의 손실")
UPDATES = Wording("updates", "갱신 횟수")
COLUMN_LOSS = Wording("loss", "손실")
COLUMN_RIGHT = Wording("right, %", "맞음, %")
TRAINED_READ = Wording(
    "A guess among {symbols} symbols has a loss of {guess:.2f}. The last column is the share of unseen sequences that "
    "are reversed without one mistake.",
    "기호 {symbols}개 가운데 아무것이나 찍으면 손실이 {guess:.2f}입니다. 마지막 열은 본 적 없는 시퀀스를 한 군데도 "
    "틀리지 않고 뒤집은 비율입니다.",
)

NONE = Wording("none", "없음")
ANSWER = Wording(
    "After {steps} updates the whole model reverses {whole:.0f} % of the unseen sequences. Clearly worse: {needed}. "
    "Nearly as good: {spared}. This task is small and asks for positions above all; what a larger one needs is not "
    "measured here.",
    "{steps}번 갱신한 뒤 전체 모델은 본 적 없는 시퀀스의 {whole:.0f}%를 뒤집습니다. 뚜렷이 나쁜 모델: {needed}. 거의 "
    "같은 모델: {spared}. 이것은 무엇보다 위치가 필요한 작은 과제이며, 더 큰 과제에 무엇이 필요한지는 여기서 재지 "
    "않았습니다.",
)
TRY_LAYERS = Wording(
    "One block only: which parts matter less?",
    "블록을 하나만 두면 어느 부품이 덜 중요해집니까?",
)
TRY_LONGEST = Wording("Shorter sequences: which model catches up?", "시퀀스가 짧으면 어느 모델이 따라잡습니까?")
ORIGIN_BLOCK = Wording("the block, its feed-forward part, positions", "블록, 피드포워드, 위치 인코딩")
ORIGIN_RESIDUAL = Wording("residual connections", "잔차 연결")
ORIGIN_NORM = Wording("layer normalisation", "층 정규화")
