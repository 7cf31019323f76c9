"""The words of the lesson *memory*."""

from seq2see.learn.wording import Wording

TITLE = Wording("What is left of word 1 after 40 words", "40단어 뒤에 첫 단어는 얼마나 남는가")
SUMMARY = Wording(
    "tanh RNN, GRU, LSTM: gates, gradients, forgetting, two directions",
    "tanh RNN, GRU, LSTM: 게이트와 기울기, 망각, 양방향",
)
QUESTION = Wording(
    "A recurrent network reads a sentence word by word into one state. How much of the first word is left at the "
    "end, how much of an error at the end finds its way back to it, and what do the gates of GRU and LSTM change?",
    "순환 신경망(recurrent neural network, RNN)은 문장을 한 단어씩 읽어 상태(state) 하나에 담습니다. 끝까지 읽으면 "
    "첫 단어는 얼마나 남고, 끝에서 생긴 오차는 첫 단어까지 얼마나 되돌아오며, GRU와 LSTM의 게이트(gate)는 무엇을 "
    "바꿉니까?",
)
STEP_TITLE = Wording("One step, by hand", "한 단계를 손으로")
STEP = Wording(
    "Three cells of a single number, so that a pencil is enough. The word is x = 1, the state before is h = 0.5 (of "
    "the LSTM c = 0.5 too), every weight is 1 and every bias 0; only the LSTM's forget gate starts with a bias of "
    "{forget:g}.",
    "연필로 따라갈 수 있도록 숫자 하나짜리 셀 세 개를 씁니다. 단어는 x = 1, 앞 상태는 h = 0.5(LSTM은 c = 0.5도), "
    "가중치는 모두 1, 편향(bias)은 모두 0이고, LSTM의 망각 게이트(forget gate)만 편향 {forget:g}로 시작합니다.",
)
STEP_READ = Wording(
    "The tanh cell computes its whole state anew at every step. GRU and LSTM *add* to the old state, and a gate "
    "between 0 and 1 says how much of it is kept: z in the GRU, f in the LSTM.",
    "tanh 셀은 단계마다 상태 전체를 새로 계산합니다. GRU와 LSTM은 옛 상태에 *더하며*, 0과 1 사이의 게이트가 옛 상태를 "
    "얼마나 남길지 정합니다. GRU에서는 z, LSTM에서는 f입니다.",
)
REACHING_TITLE = Wording("The gradient that reaches word 1", "첫 단어까지 오는 기울기")
REACHING = Wording(
    "Learning needs a gradient: how much would the last state change if this word changed a little? For cells of "
    "{hidden} numbers with the initial weights of our models, on {sentences} random sentences of {length} words (seed "
    "{seed}):",
    "학습하려면 기울기(gradient)가 있어야 합니다. 이 단어가 조금 달라지면 마지막 상태는 얼마나 달라집니까? 우리 "
    "모델의 초깃값을 쓰는 숫자 {hidden}개짜리 셀로, {length}단어짜리 무작위 문장 {sentences}개에서 "
    "재었습니다(시드(seed) {seed}).",
)
COLUMN_WORD = Wording("word", "단어")
REACHING_CHART = Wording(
    "gradient of the last state, by word (logarithmic scale)",
    "마지막 상태의 기울기, 단어별(로그 눈금)",
)
REACHING_READ = Wording(
    "Of the gradient at the last word {ratio_tanh:.1e} is left at word 1 in the tanh cell, {ratio_gru:.1e} in the "
    "GRU, {ratio_lstm:.1e} in the LSTM. Along the LSTM's cell it is multiplied by f at every step; with a bias of "
    "{forget:g} f starts near {gate:.3f}, and {gate:.3f} to the power of {steps} is {product:.1e}. So gates alone do "
    "not keep the gradient; they have to be open, and training has to open them.",
    "마지막 단어의 기울기 가운데 첫 단어에 남는 것은 tanh 셀에서 {ratio_tanh:.1e}, GRU에서 {ratio_gru:.1e}, LSTM에서 "
    "{ratio_lstm:.1e}입니다. LSTM의 셀을 따라가면 단계마다 f가 곱해집니다. 편향이 {forget:g}이면 f는 {gate:.3f} "
    "근처에서 시작하고, {gate:.3f}의 {steps}제곱은 {product:.1e}입니다. 게이트가 있다고 기울기가 남는 것은 아니며, "
    "게이트가 열려 있어야 합니다. 그것은 학습으로 배워야 합니다.",
)
RECALL_TITLE = Wording("Forgetting made visible", "눈에 보이는 망각")
RECALL = Wording(
    "A task of memory alone: read a sentence of letters, output its first one ('{example}' → '{first}'). "
    "Three models of the family `rnn` learn it from the same {pairs:,} sentences of 2 to 40 letters; they differ in "
    "the cell of their encoder. Right answers for new sentences; guessing gives {chance:.0%}:",
    "기억력만 있으면 되는 과제입니다. 글자로 된 문장을 읽고 첫 글자를 말합니다('{example}' → '{first}'). "
    "인코더(encoder)의 셀만 다른 `rnn` 계열 모델 세 개가 2~40글자 문장 {pairs:,}개로 똑같이 배웁니다. 새 문장에서 "
    "맞힌 비율이며, 찍으면 {chance:.0%}입니다.",
)
COLUMN_LENGTH = Wording("letters", "글자 수")
RECALL_GRADIENT = Wording(
    "Of {few} letters the tanh cell recalls the first in {few_tanh:.0%} of the sentences, of {many} in "
    "{many_tanh:.0%}; the GRU in {few_gru:.0%} and {many_gru:.0%}, the LSTM in {few_lstm:.0%} and {many_lstm:.0%}. "
    "The gradient of the trained encoders at each letter:",
    "글자 {few}개와 {many}개에서 첫 글자를 기억해 내는 비율은 tanh 셀이 {few_tanh:.0%}와 {many_tanh:.0%}, GRU가 "
    "{few_gru:.0%}와 {many_gru:.0%}, LSTM이 {few_lstm:.0%}와 {many_lstm:.0%}입니다. 학습을 마친 인코더에서 글자마다의 "
    "기울기는 다음과 같습니다.",
)
RECALL_READ = Wording(
    "Trained, the share of the last word's gradient that is left at word 1 of {length} is {ratio_tanh:.1e} in the "
    "tanh cell, {ratio_gru:.1e} in the GRU, {ratio_lstm:.1e} in the LSTM.",
    "학습한 뒤 {length}글자 가운데 첫 글자에 남는 기울기는 마지막 글자의 것에 견주어 tanh 셀에서 {ratio_tanh:.1e}, "
    "GRU에서 {ratio_gru:.1e}, LSTM에서 {ratio_lstm:.1e}입니다.",
)
TWO_TITLE = Wording("Why two directions", "왜 양방향인가")
TWO = Wording(
    "Attention looks at every state of the encoder, so each should know its surroundings. How much does the state "
    "h_t depend on each word x_j of {length}? Shares of a row sum to 1:",
    "어텐션(attention)은 인코더의 모든 상태를 보므로, 각 상태는 앞뒤를 모두 알아야 합니다. 상태 h_t는 {length}단어 "
    "가운데 각 단어 x_j에 얼마나 달려 있습니까? 한 행의 비율을 더하면 1입니다.",
)
ONE_NAME = Wording("one direction", "한 방향")
TWO_NAME = Wording("two directions", "양방향")
TWO_READ = Wording(
    "Read in one direction, h1 depends on x1 alone ({alone:.2f}): above the diagonal are zeros, because nothing can "
    "depend on words that have not been read. With a second pass from the right, h1 depends on x1 with {first:.2f} and "
    "on x2 with {second:.2f}; every state knows both sides, and its own word best.",
    "한 방향으로만 읽으면 h1은 x1에만 달려 있습니다({alone:.2f}). 아직 읽지 않은 단어에는 달려 있을 수 없으므로 "
    "대각선 위는 모두 0입니다. 오른쪽에서도 읽으면 h1은 x1에 {first:.2f}, x2에 {second:.2f}만큼 달려 있으며, 모든 "
    "상태가 양쪽을 알고 자기 단어를 가장 잘 압니다. 이것이 양방향(bidirectional) 인코더입니다.",
)
ANSWER = Wording(
    "Before training, the gradient that reaches word 1 of {length} is {ratio_tanh:.1e} (tanh), {ratio_gru:.1e} (GRU) "
    "and {ratio_lstm:.1e} (LSTM) of the last word's. After the same training, the first of {words} words is recalled "
    "in {right_tanh:.0%}, {right_gru:.0%} and {right_lstm:.0%} of the sentences: gates that can stay open make the "
    "difference. Attention shortens the way itself: see *order*.",
    "학습하기 전에는 {length}단어 가운데 첫 단어에 오는 기울기가 마지막 단어의 {ratio_tanh:.1e}(tanh), "
    "{ratio_gru:.1e}(GRU), {ratio_lstm:.1e}(LSTM)입니다. 똑같이 학습한 뒤 {words}단어 가운데 첫 단어를 기억해 내는 "
    "비율은 {right_tanh:.0%}, {right_gru:.0%}, {right_lstm:.0%}입니다. 열린 채로 있을 수 있는 게이트가 차이를 "
    "만듭니다. 어텐션은 그 길 자체를 줄입니다. *order* 강의를 보십시오.",
)
TRY_FORGET = Wording(
    "Open the forget gate of the LSTM wide before training.",
    "학습하기 전에 LSTM의 망각 게이트를 활짝 열어 보십시오.",
)
TRY_LENGTH = Wording("A sentence of 100 words.", "100단어짜리 문장으로 해 보십시오.")
TRY_SEED = Wording("Other random matrices.", "무작위 행렬을 바꾸어 보십시오.")
ORIGIN_BENGIO = Wording("why gradients vanish over long distances", "먼 거리에서 기울기가 사라지는 까닭")
ORIGIN_LSTM = Wording("the cell that keeps an error constant", "오차를 그대로 간직하는 셀")
ORIGIN_FORGET = Wording("the forget gate", "망각 게이트")
ORIGIN_GRU = Wording("the GRU, with reset and update gates", "리셋 게이트와 업데이트 게이트가 있는 GRU")
ORIGIN_TWO = Wording("reading in both directions", "양방향으로 읽기")

CELLS = {"tanh": "tanh", "gru": "GRU", "lstm": "LSTM"}
