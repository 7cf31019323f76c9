"""The words of the lesson *convolution*."""

from seq2see.learn.wording import Wording

TITLE = Wording("Convolutions: seeing far with small windows", "합성곱: 작은 창으로 멀리 보기")
SUMMARY = Wording(
    "gates, receptive fields and dilation, measured in ConvS2S and ByteNet",
    "ConvS2S와 ByteNet의 게이트, 수용 영역, 팽창을 재어 봅니다",
)
QUESTION = Wording(
    "A recurrent network reads word after word. A convolution computes all positions at once, but each sees only a "
    "window of {kernel} words. How can it still connect words that are far apart?",
    "순환 신경망(recurrent neural network)은 단어를 하나씩 차례로 읽습니다. 합성곱(convolution)은 모든 자리를 동시에 "
    "계산하지만, 한 자리는 단어 {kernel}개짜리 창(window)만 봅니다. 그런데도 어떻게 멀리 떨어진 단어를 이어 줄 수 "
    "있습니까?",
)

GATE_TITLE = Wording("One window, and a gate", "창 하나와 게이트")
GATE = Wording(
    "A block of ConvS2S multiplies the {kernel} vectors in its window with a matrix and gets twice as many numbers "
    "as it needs: A and B. B becomes a gate between 0 and 1 that lets A through or not. The first numbers of a "
    "fresh block, at one position:",
    "ConvS2S의 블록은 창 안의 벡터 {kernel}개에 행렬을 곱해 필요한 것의 두 배, 곧 A와 B를 얻습니다. B는 0과 1 "
    "사이의 게이트(gate)가 되어 A를 통과시키거나 막습니다. 갓 만든 블록의 한 자리에서 앞쪽 숫자는 다음과 같습니다.",
)
COLUMN_CHANNEL = Wording("number", "번호")
COLUMN_A = Wording("A", "A")
COLUMN_GATE = Wording("sigmoid(B)", "sigmoid(B)")
COLUMN_OUT = Wording("A sigmoid(B)", "A sigmoid(B)")
GATE_READ = Wording(
    "Over all {count} numbers of the block the gates are open by {mean:.2f} on average; they are random, because "
    "nothing has been learned yet. Dauphin's argument for this gate: the product has a linear path through A, so that "
    "the gradient vanishes less than through tanh.",
    "블록의 숫자 {count}개에서 게이트는 평균 {mean:.2f}만큼 열려 있습니다. 아직 배운 것이 없으므로 무작위입니다. 이런 "
    "게이트를 쓰는 까닭을 Dauphin은 이렇게 설명합니다. 곱에는 A를 거치는 선형 통로가 있어서 tanh보다 "
    "기울기(gradient)가 덜 사라집니다.",
)

FIELD_TITLE = Wording("Layers widen the view", "층이 쌓이면 시야가 넓어집니다")
FIELD = Wording(
    "Which words does one position of the encoder know after 1, 2, ... layers? We ask the model itself: the "
    "gradient of the middle position with respect to each word. A word with gradient 0, a dot below, has not been "
    "seen; the higher the bar, the more the position depends on the word. A line for each number of layers:",
    "층을 1개, 2개, ... 쌓으면 인코더(encoder)의 한 자리는 어느 단어까지 압니까? 모델에 직접 묻습니다. 가운데 자리를 "
    "각 단어로 미분한 기울기를 보면, 기울기가 0인 단어(아래의 점)는 본 적이 없는 것입니다. 막대가 높을수록 그 단어의 "
    "영향이 큽니다. 층의 수마다 한 줄씩 그렸습니다.",
)
FIELD_NAME = Wording("layers", "층")
COLUMN_SEEN = Wording("words seen", "본 단어")
COLUMN_MIDDLE = Wording("share of the middle", "가운데의 비율")
FIELD_READ = Wording(
    "After {layers} layers it has seen {seen} words, and 1 + {layers} x ({kernel} - 1) = {formula}. That is its "
    "receptive field. Two words {far} apart are seen together after {needed} layers. The share of the word in the "
    "middle is {middle:.0%}.",
    "{layers}층이면 단어 {seen}개를 보며, 1 + {layers} x ({kernel} - 1) = {formula}입니다. 이것이 수용 영역(receptive "
    "field)입니다. {far}칸 떨어진 두 단어를 함께 보려면 {needed}층이 필요합니다. 가운데 단어의 비율은 "
    "{middle:.0%}입니다.",
)

DILATION_TITLE = Wording("Dilation: windows with holes", "팽창: 구멍 난 창")
DILATION = Wording(
    "ByteNet keeps {kernel} positions in a window, but spreads them: {dilations} apart, layer after layer. The same "
    "question, asked of its encoder:",
    "ByteNet도 창은 {kernel}자리이지만 층마다 {dilations}칸씩 벌려 놓습니다. 이것이 팽창(dilation)입니다. 인코더에 "
    "같은 것을 물어봅니다.",
)
GROWTH = Wording("words that one position has seen", "한 자리가 본 단어 수")
ACROSS = Wording("layers", "층")
PLAIN_LINE = Wording("ConvS2S, window {kernel}", "ConvS2S, 창 {kernel}")
DILATED_LINE = Wording("ByteNet, dilated", "ByteNet, 팽창")
DILATION_READ = Wording(
    "{layers} dilated layers see {seen} words: 1 + ({kernel} - 1) x {total} = {formula}. As many plain layers see "
    "{plain}. That is how ByteNet works without attention: with dilations that double, the path between two words "
    "grows with the logarithm of their distance.",
    "팽창한 층 {layers}개는 단어 {seen}개를 봅니다. 1 + ({kernel} - 1) x {total} = {formula}입니다. 보통의 층을 "
    "같은 수만큼 쌓으면 {plain}개입니다. 그래서 ByteNet은 어텐션(attention) 없이도 됩니다. 간격이 두 배씩 "
    "커지면 두 단어 사이의 경로가 거리의 로그로만 늘어나기 때문입니다.",
)

CAUSAL_TITLE = Wording("The decoder must not look ahead", "디코더는 뒤에 올 단어를 보면 안 됩니다")
CAUSAL = Wording(
    "In the decoder the window reaches back only. On which of the words said so far does each target position "
    "depend (a line for each position of ConvS2S's decoder, a column for each word)?",
    "디코더(decoder)의 창은 이미 말한 쪽으로만 열립니다. 각 자리는 지금까지 말한 단어 가운데 무엇에 달려 있습니까? "
    "ConvS2S 디코더의 자리마다 한 줄, 단어마다 한 칸입니다.",
)
CAUSAL_READ = Wording(
    "Above the diagonal every gradient is exactly {above:g}: {count} of {count} entries. So a known target can be "
    "learned at all positions at once, and still be said word by word.",
    "대각선 위의 기울기는 {count}칸 가운데 {count}칸이 정확히 {above:g}입니다. 그래서 아는 번역문은 모든 자리를 "
    "한꺼번에 학습하면서도, 말할 때는 한 단어씩 말할 수 있습니다.",
)

ANSWER = Wording(
    "By stacking: {layers} layers of windows of {kernel} see {plain} words; dilated, {dilated_layers} layers see "
    "{dilated}. ConvS2S reaches the far words by attention in every decoder layer, ByteNet by dilation.",
    "쌓으면 됩니다. 창 {kernel}짜리 층 {layers}개는 단어 {plain}개를 보고, 팽창한 층 "
    "{dilated_layers}개는 {dilated}개를 봅니다. ConvS2S는 먼 단어를 디코더 층마다 있는 어텐션에 맡기고, ByteNet은 "
    "팽창에 맡깁니다.",
)
TRY_KERNEL = Wording("Wider windows: how many layers do they save?", "창을 넓혀 보십시오. 층을 몇 개나 아낍니까?")
TRY_DILATIONS = Wording(
    "No dilation: how much does ByteNet still see?",
    "팽창을 없애 보십시오. ByteNet은 얼마나 봅니까?",
)
ORIGIN_GATE = Wording("gated linear units", "게이트 선형 유닛(gated linear unit)")
ORIGIN_CONV = Wording("stacked convolutions with attention in every layer", "층마다 어텐션을 둔 합성곱 쌓기")
ORIGIN_BYTENET = Wording("a decoder on top of the encoder; dilation", "인코더 위에 쌓은 디코더, 팽창")
