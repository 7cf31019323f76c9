"""The words of the lesson *block*."""

from seq2see.learn.wording import Wording

TITLE = Wording("The Transformer's block, part by part", "트랜스포머 블록, 부품 하나씩")
SUMMARY = Wording(
    "positions, residual sums, layer norm, feed-forward; what breaks without each",
    "위치, 잔차 합, 층 정규화, 피드포워드, 그리고 하나씩 뺐을 때 무너지는 것",
)
QUESTION = Wording(
    "Around its attention a Transformer has four more parts: positions, residual sums, normalisation and a "
    "feed-forward network. Which of them could be left out?",
    "트랜스포머(Transformer)에는 어텐션(attention) 말고도 부품이 네 가지 더 있습니다. 위치, 잔차 합, 정규화, "
    "피드포워드입니다. 이 가운데 빼도 되는 것이 있습니까?",
)

POSITIONS_TITLE = Wording("Where a word stands, pictured", "단어의 자리를 그려 보기")
POSITIONS = Wording(
    "Attention treats words as a bag: shuffle them and nothing changes. So a pattern of sines and cosines is added "
    "to each word vector, another one at each position. A line for each position, a column for each number, the "
    "darker the larger; waves become longer from left to right in either half:",
    "어텐션은 단어를 자루에 담긴 것처럼 다루어, 순서를 섞어도 결과가 같습니다. 그래서 단어 벡터마다 자리에 따라 "
    "다른 사인과 코사인 무늬를 더합니다. 이것이 위치 부호(positional encoding)입니다. 한 줄이 자리 하나, 한 칸이 "
    "숫자 하나이며, 진할수록 큰 값입니다. 왼쪽 절반은 사인, 오른쪽 절반은 코사인이고 오른쪽으로 갈수록 파장이 "
    "길어집니다.",
)
POSITIONS_LIKE = Wording(
    "How alike are two positions? Their cosines:",
    "두 자리는 얼마나 닮았습니까? 코사인으로 재었습니다.",
)
LIKENESS = Wording("position", "자리")
POSITIONS_READ = Wording(
    "Neighbours are alike ({near:.2f}), positions four apart less ({far:.2f}), and every diagonal has one value: "
    "only the distance counts.",
    "이웃한 자리는 닮았고({near:.2f}), 네 칸 떨어지면 덜 닮았습니다({far:.2f}). 대각선마다 값이 같으므로 거리만이 "
    "중요합니다.",
)

SIZES_TITLE = Wording("A fresh stack, six blocks high", "갓 만든 블록을 여섯 층 쌓으면")
SIZES = Wording(
    "Before anything is learned: how long are the vectors behind 0, 1, ... blocks of an encoder, how much of the "
    "word is still in its vector behind {layers} blocks (the cosine between both), and how much gradient comes "
    "down to the word vectors?",
    "아무것도 배우기 전입니다. 인코더(encoder) 블록을 0개, 1개, ... 지나면 벡터의 길이가 얼마이고, 블록 "
    "{layers}개를 지난 뒤에도 단어 자신이 얼마나 남아 있으며(둘 사이의 코사인), 단어 벡터까지 내려오는 "
    "기울기(gradient)는 얼마입니까?",
)
COLUMN_MODEL = Wording("model", "모델")
COLUMN_GRADIENT = Wording("gradient", "기울기")
COLUMN_KEPT = Wording("word left", "남은 단어")
WHOLE = Wording("whole", "전부 있음")
NO_POSITIONS = Wording("no positions", "위치 없음")
NO_RESIDUAL = Wording("no residual", "잔차 없음")
NO_NORM = Wording("no norm", "정규화 없음")
NO_FEED_FORWARD = Wording("no feed-forward", "피드포워드 없음")
SIZES_READ = Wording(
    "A residual sum adds to a word instead of replacing it: behind {layers} blocks the cosine is still {kept:.2f}, "
    "without the sums {lost:.2f}. Without norms the vectors are {grown:.1f} times as long behind the last block as "
    "in the whole model.",
    "잔차 합(residual)은 단어를 바꿔치우지 않고 거기에 더합니다. 블록 {layers}개를 지난 뒤에도 코사인이 "
    "{kept:.2f}이고, 잔차가 없으면 {lost:.2f}입니다. 정규화가 없으면 마지막 블록 뒤의 벡터가 전체 모델보다 "
    "{grown:.1f}배 깁니다.",
)

PARTS_TITLE = Wording("The block in five lines", "다섯 줄로 쓴 블록")
PARTS = Wording(
    "Attention moves information between words; the feed-forward network works on each word by itself, always with "
    "the same matrices. Around each of the two: a norm in front, a sum behind.",
    "어텐션은 단어 사이에서 정보를 옮기고, 피드포워드(feed-forward) 신경망은 단어마다 따로, 늘 같은 행렬로 "
    "계산합니다. 둘 다 앞에는 층 정규화(layer norm)가, 뒤에는 잔차 합이 있습니다.",
)

TRAINED_TITLE = Wording("What breaks", "무엇이 무너집니까")
TRAINED = Wording(
    "Five models of {layers} + {layers} blocks learn to say sequences of 5 to {longest} symbols backwards, {steps} "
    "updates each, from the same first numbers. The loss of a symbol on sequences that were never seen:",
    "블록이 {layers} + {layers}개인 모델 다섯 개가 기호 5~{longest}개짜리 시퀀스를 거꾸로 말하는 법을 {steps}번씩 "
    "갱신하며 배웁니다. 처음 숫자는 모두 같습니다. 본 적 없는 시퀀스에서 기호 하나의 손실은 다음과 같습니다.",
)
LOSS = Wording("loss of a symbol", "기호 하나의 손실")
UPDATES = Wording("updates", "갱신 횟수")
COLUMN_LOSS = Wording("loss", "손실")
COLUMN_RIGHT = Wording("right, %", "맞음, %")
TRAINED_READ = Wording(
    "A blind guess among {symbols} symbols costs {guess:.2f}. The last column is how many unseen sequences are "
    "said without one mistake.",
    "기호 {symbols}개 가운데 아무것이나 찍으면 손실이 {guess:.2f}입니다. 마지막 열은 본 적 없는 시퀀스를 한 군데도 "
    "틀리지 않고 말한 비율입니다.",
)

NONE = Wording("none", "없음")
ANSWER = Wording(
    "After {steps} updates the whole model says {whole:.0f} % of the unseen sequences right. Not learned without: "
    "{needed}. Nearly as good on this small task: {spared}. Positions say where a word stands, and residual sums "
    "let blocks be stacked; norms and the feed-forward part earn their place where more has to be learned, and in "
    "how soon it is learned.",
    "{steps}번 갱신한 뒤 전체 모델은 본 적 없는 시퀀스의 {whole:.0f}%를 맞힙니다. 배우지 못한 것: {needed}. 이 "
    "작은 과제에서 거의 같았던 것: {spared}. 위치는 단어가 어디 있는지 알려 주고, 잔차 합은 블록을 쌓을 수 있게 "
    "합니다. 정규화와 피드포워드는 배울 것이 더 많을 때, 그리고 얼마나 빨리 배우는지에서 제값을 합니다.",
)
TRY_LAYERS = Wording(
    "One block only: which parts matter less now?",
    "블록을 하나만 두면 어느 부품이 덜 중요해집니까?",
)
TRY_LONGEST = Wording("Shorter sequences: who catches up?", "시퀀스가 짧으면 어느 모델이 따라잡습니까?")
ORIGIN_BLOCK = Wording("the block, its feed-forward part, positions", "블록, 피드포워드, 위치 부호")
ORIGIN_RESIDUAL = Wording("residual sums", "잔차 합")
ORIGIN_NORM = Wording("layer normalisation", "층 정규화")
