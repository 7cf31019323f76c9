"""The words of the lesson *order*."""

from seq2see.learn.wording import Wording

TITLE = Wording("In a row or all at once: RNN, CNN, attention", "차례로 또는 한꺼번에: RNN, CNN, 어텐션")
SUMMARY = Wording(
    "sequential steps, path length and cost: as formulas, and measured for six families",
    "순차 단계, 경로 길이, 비용을 공식으로, 그리고 여섯 모델에서 재어 봅니다",
)
QUESTION = Wording(
    "Recurrent networks, convolutions and attention all turn a sequence into a sequence. What does each pay for a "
    "longer one, in time and in distance between its words?",
    "순환 신경망(RNN), 합성곱(CNN), 어텐션(attention)은 모두 시퀀스를 시퀀스로 바꿉니다. 시퀀스가 길어지면 시간과 "
    "단어 사이의 거리에서 각각 무엇을 치릅니까?",
)

FORMULA_TITLE = Wording("Three formulas", "세 가지 공식")
FORMULA = Wording(
    "n is the length, d the width, k the window of a convolution. Steps that must wait for each other cannot be "
    "shared out among cores; the path is how many layers or steps a signal crosses between two words:",
    "n은 길이, d는 너비, k는 합성곱의 창입니다. 서로 기다려야 하는 단계는 여러 코어에 나눌 수 없습니다. 경로는 두 "
    "단어 사이에서 신호가 지나는 층이나 단계의 수입니다.",
)
COLUMN_LAYER = Wording("layer", "층의 종류")
COLUMN_COST = Wording("cost", "비용")
COLUMN_STEPS = Wording("steps in a row", "차례로 하는 단계")
COLUMN_PATH = Wording("path", "경로")
ROW_RNN = Wording("recurrent", "순환")
ROW_CNN = Wording("convolution", "합성곱")
ROW_DILATED = Wording("dilated convolution", "팽창 합성곱")
ROW_ATTENTION = Wording("self-attention", "셀프 어텐션")
COUNT = Wording(
    "With n = {length}, d = {width}, k = {kernel} the recurrent layer multiplies {recurrent:,.0f} times in "
    "{length} steps that wait for each other, self-attention {attention:,.0f} times in one. Attention is the "
    "cheaper of the two while n is smaller than d.",
    "n = {length}, d = {width}, k = {kernel}이면 순환 층은 서로 기다리는 {length}단계에 걸쳐 {recurrent:,.0f}번 "
    "곱하고, 셀프 어텐션은 한 단계에 {attention:,.0f}번 곱합니다. n이 d보다 작은 동안에는 어텐션이 더 쌉니다.",
)

STEPS_TITLE = Wording("The six families, counted", "여섯 모델을 세어 보면")
STEPS = Wording(
    "The same for our models of the size `tiny`: how many steps wait for each other when a source of {length} "
    "words and a known target of {length} words are learned, and how many a signal crosses from the first source "
    "word to the last target word:",
    "크기가 `tiny`인 우리 모델에서 원문 {length}단어와 아는 번역문 {length}단어를 학습할 때 서로 기다리는 단계가 "
    "몇 개인지, 첫 원문 단어에서 마지막 번역 단어까지 신호가 몇 단계를 지나는지 세었습니다.",
)
COLUMN_FAMILY = Wording("family", "모델")
COLUMN_SEQUENTIAL = Wording("formula", "공식")
COLUMN_COUNTED = Wording("steps", "단계")
COLUMN_LONGEST = Wording("path", "경로")

TIME_TITLE = Wording("Seconds for one update", "갱신 한 번에 걸리는 시간")
TIME = Wording(
    "Every batch has {tokens:,} source and {tokens:,} target words, cut into sentences of {shortest} to {longest} "
    "words. As many words, other lengths: whoever works in parallel should not care. Measured on one thread of "
    "this machine, the fastest of {repeats}, forward, backward and optimizer together, in seconds of computing:",
    "배치마다 원문 {tokens:,}단어와 번역문 {tokens:,}단어가 있고, 문장 길이만 {shortest}단어에서 {longest}단어까지 "
    "바꿉니다. 단어 수가 같으므로 병렬로 계산하는 모델이라면 길이가 상관없어야 합니다. 이 컴퓨터의 스레드 하나로 "
    "{repeats}번 재어 가장 빠른 것이며, 순방향, 역방향, 최적화를 모두 더한 계산 시간(초)입니다.",
)
SECONDS = Wording("seconds for an update of {tokens:,} words", "{tokens:,}단어 갱신 한 번의 초")
ACROSS_LENGTH = Wording("words in a sentence", "문장의 단어 수")
COLUMN_GROWTH = Wording("{longest} / {shortest}", "{longest} / {shortest}")
TIME_READ = Wording(
    "From {shortest} to {longest} words, at equal words, the recurrent family that grows most takes {worst:.1f} "
    "times as long ({worst_family}), the Transformer {transformer:.1f} times. On one thread nothing is computed "
    "side by side: what is seen here is the price of many small products that wait for each other, against few "
    "large ones. The Transformer pays for n squared scores, which are few while n is below d.",
    "단어 수가 같을 때 {shortest}단어에서 {longest}단어로 길어지면 가장 많이 늘어난 순환 모델({worst_family})은 "
    "{worst:.1f}배, 트랜스포머(Transformer)는 {transformer:.1f}배가 걸립니다. 스레드 하나로는 나란히 계산하는 것이 "
    "없으므로, 여기서 보이는 것은 서로 기다리는 작은 곱셈 여럿과 큰 곱셈 몇 개의 차이입니다. 트랜스포머는 점수 "
    "n제곱개의 값을 치르지만, n이 d보다 작으면 얼마 되지 않습니다.",
)

GRADIENT_TITLE = Wording("What the last word feels of the first", "마지막 단어가 첫 단어를 느끼는 정도")
GRADIENT = Wording(
    "A fresh model of each family says {length} words for {length} words. How strongly does the last target word "
    "feel each source word: the length of its gradient, divided by the largest? What cannot be felt cannot be "
    "learned (mean of {seeds} models):",
    "갓 만든 모델이 {length}단어를 읽고 {length}단어를 말합니다. 마지막 번역 단어는 각 원문 단어를 얼마나 "
    "느낍니까? 기울기(gradient)의 길이를 가장 큰 것으로 나누었습니다. 느낄 수 없는 것은 배울 수 없습니다. 모델 "
    "{seeds}개의 평균입니다.",
)
FELT = Wording("gradient of a source word, largest = 1", "원문 단어의 기울기, 가장 큰 것 = 1")
ACROSS_DISTANCE = Wording("distance from the end of the source", "원문 끝에서 떨어진 거리")
COLUMN_NEAR = Wording("nearest", "가장 가까운 단어")
COLUMN_FAR = Wording("farthest", "가장 먼 단어")
COLUMN_RATIO = Wording("farthest / nearest", "먼 것 / 가까운 것")
GRADIENT_READ = Wording(
    "Without attention (`rnn`) the word farthest away is felt {rnn:.0e} times as strongly as the nearest; with "
    "attention (`rnnsearch`) {rnnsearch:.2f} times, in the Transformer {transformer:.2f} times. ByteNet's view "
    "ends where its dilated windows end; a longer sentence needs more blocks.",
    "어텐션이 없는 `rnn`에서는 가장 먼 단어를 가장 가까운 단어의 {rnn:.0e}배만큼만 느낍니다. 어텐션이 있는 "
    "`rnnsearch`에서는 {rnnsearch:.2f}배, 트랜스포머에서는 {transformer:.2f}배입니다. ByteNet의 시야는 팽창한 창이 "
    "끝나는 곳에서 끝나며, 문장이 길어지면 블록이 더 필요합니다.",
)

ANSWER = Wording(
    "Recurrence pays in steps that wait and in gradients that fade ({rnn:.0e} from the nearest word to the "
    "farthest); convolution pays in layers; attention pays n squared and gets a path of one step: its update takes "
    "{transformer:.1f} times as long at {longest} words as at {shortest}, the slowest recurrent family's "
    "{worst:.1f} times.",
    "순환은 기다리는 단계와 사라지는 기울기(가장 가까운 단어에 대한 가장 먼 단어의 비 {rnn:.0e})를 치르고, "
    "합성곱은 층을 치르고, 어텐션은 n의 제곱을 치르는 대신 한 단계짜리 경로를 얻습니다. {longest}단어의 갱신은 "
    "{shortest}단어의 {transformer:.1f}배, 가장 느린 순환 모델은 {worst:.1f}배가 걸립니다.",
)
TRY_LONGER = Wording("Look twice as far: which gradients are left?", "두 배 멀리 보십시오. 어느 기울기가 남습니까?")
TRY_CELL = Wording(
    "A plain tanh cell instead of a GRU: how far does it feel?",
    "GRU 대신 단순한 tanh 셀을 쓰면 얼마나 멀리 느낍니까?",
)
ORIGIN_TABLE = Wording("the table of costs, steps and path lengths", "비용, 단계, 경로 길이의 표")
ORIGIN_FADING = Wording("why gradients of recurrent networks fade", "순환 신경망의 기울기가 사라지는 까닭")
ORIGIN_LINEAR = Wording("time and path length of ByteNet", "ByteNet의 시간과 경로 길이")
