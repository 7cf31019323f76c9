"""The words of the lesson *order*."""

from seq2see.learn.wording import Wording

TITLE = Wording("In a row or all at once: RNN, CNN, attention", "차례로 또는 한꺼번에: RNN, CNN, 어텐션")
SUMMARY = Wording(
    "sequential steps, path length and cost: as formulas, and measured for six families",
    "순차 단계, 경로 길이, 비용을 공식으로, 그리고 여섯 모델에서 재어 봅니다",
)
QUESTION = Wording(
    "Recurrent networks, convolutions and attention all turn a sequence into a sequence. What does a longer sequence "
    "cost each of them, in time and in the distance a gradient has to travel?",
    "순환 신경망(recurrent neural network, RNN), 합성곱(convolution), 어텐션(attention)은 모두 시퀀스(sequence)를 "
    "시퀀스로 바꿉니다. 시퀀스가 길어지면 계산 시간과 기울기(gradient)가 지나야 할 거리는 각각 어떻게 됩니까?",
)

FORMULA_TITLE = Wording("Three formulas", "세 가지 공식")
FORMULA = Wording(
    "n is the length, d the width, k the window of a convolution. Sequential steps wait for each other and cannot be "
    "computed in parallel; the path is how many layers or steps a signal crosses between two words:",
    "n은 길이, d는 차원, k는 합성곱의 창(window) 크기입니다. 순차 단계(sequential step)는 앞 단계를 기다려야 하므로 "
    "병렬로 계산할 수 없습니다. 경로(path)는 두 단어 사이에서 신호가 지나는 층이나 단계의 수입니다.",
)
COLUMN_LAYER = Wording("layer", "층의 종류")
COLUMN_COST = Wording("cost", "비용")
COLUMN_STEPS = Wording("sequential steps", "순차 단계")
COLUMN_PATH = Wording("path", "경로")
ROW_RNN = Wording("recurrent", "순환")
ROW_CNN = Wording("convolution", "합성곱")
ROW_DILATED = Wording("dilated convolution", "팽창 합성곱(dilated)")
ROW_ATTENTION = Wording("self-attention", "셀프 어텐션")
COUNT = Wording(
    "With n = {length}, d = {width}, k = {kernel} the formula gives {recurrent:,.0f} for the recurrent layer, in "
    "{length} sequential steps, and {attention:,.0f} for self-attention, in one. Self-attention is the cheaper of the "
    "two while n is smaller than d.",
    "n = {length}, d = {width}, k = {kernel}이면 공식의 값은 순환 층이 순차 단계 {length}개에 {recurrent:,.0f}, 셀프 "
    "어텐션(self-attention)이 한 단계에 {attention:,.0f}입니다. n이 d보다 작은 동안에는 셀프 어텐션이 더 쌉니다.",
)

STEPS_TITLE = Wording("The six families, counted", "여섯 모델을 세어 보면")
STEPS = Wording(
    "The same for our models of the size `tiny`, trained on a source of {length} words and a target of {length} words: "
    "how many steps are sequential, and how many a signal crosses from the first source word to the last target word "
    "(S and T are the lengths, L and L' the layers of encoder and decoder; `luong` without input feeding):",
    "크기가 `tiny`인 우리 모델을 원문 {length}단어와 번역문 {length}단어로 학습할 때 순차 단계가 몇 개인지, 첫 원문 "
    "단어에서 마지막 번역 단어까지 신호가 몇 단계를 지나는지 세었습니다. S와 T는 길이, L과 L'은 인코더(encoder)와 "
    "디코더(decoder)의 층 수이고, `luong`은 인풋 피딩(input feeding) 없이 셉니다.",
)
COLUMN_FAMILY = Wording("family", "모델")
COLUMN_SEQUENTIAL = Wording("formula", "공식")
COLUMN_COUNTED = Wording("steps", "단계")
COLUMN_LONGEST = Wording("path", "경로")

TIME_TITLE = Wording("Seconds for one update", "갱신 한 번에 걸리는 시간")
TIME = Wording(
    "Every batch has {tokens:,} source and {tokens:,} target words, cut into sentences of {shortest} to {longest} "
    "words. The number of words is the same, so a model that works in parallel should take the same time for every "
    "length. Measured on one thread of this machine, the fastest of {repeats}, forward, backward and optimizer "
    "together, in seconds of CPU time:",
    "배치마다 원문 {tokens:,}단어와 번역문 {tokens:,}단어가 있고, 문장 길이만 {shortest}단어에서 {longest}단어까지 "
    "바꿉니다. 단어 수가 같으므로 병렬로 계산하는 모델이라면 길이가 상관없어야 합니다. 이 컴퓨터의 스레드(thread) "
    "하나로 {repeats}번 재어 가장 빠른 것이며, 순전파, 역전파, 최적화를 모두 더한 CPU 시간(초)입니다.",
)
SECONDS = Wording("seconds for an update of {tokens:,} words", "{tokens:,}단어 갱신 한 번의 초")
ACROSS_LENGTH = Wording("words in a sentence", "문장의 단어 수")
COLUMN_GROWTH = Wording("{longest} / {shortest}", "{longest} / {shortest}")
TIME_READ = Wording(
    "From {shortest} to {longest} words in a sentence, an update takes {worst:.1f} times as long in the recurrent "
    "family that grows most ({worst_family}), and {transformer:.1f} times in the Transformer. On one thread nothing "
    "runs in parallel: what is seen here is the cost of many small products against few large ones. The Transformer "
    "computes n squared scores, which cost little while n is below d.",
    "단어 수가 같을 때 {shortest}단어에서 {longest}단어로 길어지면 가장 많이 늘어난 순환 모델({worst_family})은 "
    "{worst:.1f}배, 트랜스포머(Transformer)는 {transformer:.1f}배가 걸립니다. 스레드 하나로는 병렬로 계산하는 것이 "
    "없으므로, 여기서 보이는 것은 작은 행렬 곱 여러 번과 큰 행렬 곱 몇 번의 차이입니다. 트랜스포머는 점수를 n의 "
    "제곱만큼 계산하지만, n이 d보다 작으면 비용이 얼마 되지 않습니다.",
)

GRADIENT_TITLE = Wording("The gradient at a distance", "거리에 따른 기울기")
GRADIENT = Wording(
    "A model of each family before training, {length} source and {length} target words. How much does the log "
    "probability of the last target word depend on each source word: the norm of its gradient, divided by the largest "
    "(mean of {seeds} models)? Where no gradient arrives, nothing can be learned:",
    "학습하기 전의 모델에 원문 {length}단어와 번역문 {length}단어를 줍니다. 마지막 번역 단어의 로그 확률은 각 원문 "
    "단어에 얼마나 달려 있습니까? 기울기의 크기를 가장 큰 것으로 나누고 모델 {seeds}개에서 평균했습니다. 기울기가 오지 "
    "않으면 배울 수 없습니다.",
)
FELT = Wording("gradient of a source word, largest = 1", "원문 단어의 기울기, 가장 큰 것 = 1")
ACROSS_DISTANCE = Wording("distance from the end of the source", "원문 끝에서 떨어진 거리")
COLUMN_NEAR = Wording("nearest", "가장 가까운 단어")
COLUMN_FAR = Wording("farthest", "가장 먼 단어")
COLUMN_RATIO = Wording("farthest / nearest", "먼 것 / 가까운 것")
GRADIENT_READ = Wording(
    "Without attention (`rnn`) the gradient of the farthest word is {rnn:.0e} of the nearest word's; with attention "
    "(`rnnsearch`) {rnnsearch:.2f}, in the Transformer {transformer:.2f}. ByteNet sees as far as its dilated windows "
    "reach; a longer sentence needs more blocks.",
    "어텐션이 없는 `rnn`에서는 가장 먼 단어의 기울기가 가장 가까운 단어의 {rnn:.0e}배입니다. 어텐션이 있는 "
    "`rnnsearch`에서는 {rnnsearch:.2f}배, 트랜스포머에서는 {transformer:.2f}배입니다. ByteNet은 팽창한 창이 닿는 "
    "데까지만 보며, 문장이 길어지면 블록이 더 필요합니다.",
)

ANSWER = Wording(
    "Recurrence costs n sequential steps, and its gradient vanishes (farthest against nearest word: {rnn:.0e}); "
    "convolution costs layers; self-attention costs n squared and has a path of one step. Sentences of {longest} words "
    "instead of {shortest} make an update {transformer:.1f} times as long in the Transformer, and {worst:.1f} times in "
    "{worst_family}.",
    "순환은 순차 단계가 n개이고 기울기가 사라집니다(가장 가까운 단어에 대한 가장 먼 단어의 비 {rnn:.0e}). 합성곱은 "
    "층이 더 필요합니다. 셀프 어텐션은 비용이 n의 제곱이지만 경로가 한 단계입니다. 문장이 {shortest}단어에서 "
    "{longest}단어로 길어지면 갱신 한 번이 트랜스포머에서 {transformer:.1f}배, {worst_family}에서 {worst:.1f}배가 "
    "걸립니다.",
)
TRY_LONGER = Wording("Look twice as far: which gradients are left?", "두 배 멀리 보십시오. 어느 기울기가 남습니까?")
TRY_CELL = Wording(
    "A plain tanh cell instead of a GRU: how much of the gradient arrives?",
    "GRU 대신 단순한 tanh 셀을 쓰면 기울기가 얼마나 옵니까?",
)
ORIGIN_TABLE = Wording("the table of costs, steps and path lengths", "비용, 단계, 경로 길이의 표")
ORIGIN_FADING = Wording("why gradients of recurrent networks vanish", "순환 신경망의 기울기가 사라지는 까닭")
ORIGIN_LINEAR = Wording("time and path length of ByteNet", "ByteNet의 시간과 경로 길이")
