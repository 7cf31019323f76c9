"""The words of the lesson *style*."""

from seq2see.learn.wording import Wording

TITLE = Wording("Style tokens: a recording asks", "스타일 토큰: 녹음이 묻습니다")
SUMMARY = Wording(
    "attention over learned styles; the query is a recording; tokens turned up by hand",
    "학습된 스타일에 대한 어텐션, 쿼리는 녹음, 손으로 조절하는 토큰",
)
QUESTION = Wording(
    "The same sentence can be said high or low, fast or slowly. Nobody labels recordings with such things. How can "
    "a voice learn styles from sound alone, and how can one choose among them afterwards?",
    "같은 문장도 높게 또는 낮게, 빠르게 또는 느리게 말할 수 있습니다. 녹음에 그런 표시를 해 두는 사람은 없습니다. "
    "목소리는 어떻게 소리만 듣고 스타일(style)을 배우며, 나중에 어떻게 그 가운데 고를 수 있습니까?",
)

ASKING_TITLE = Wording("The query is a recording", "쿼리는 녹음입니다")
ASKING = Wording(
    "A small network sums a recording up in one vector: the query. {tokens} learned vectors, the tokens, are keys "
    "and values. Attention mixes them, and the mixture is the style. What the tokens get in the first of two heads "
    "when espeak-ng says one text in several manners (voice, pitch/speed):",
    "작은 신경망이 녹음을 벡터 하나로 요약하며, 이것이 쿼리(query)입니다. 학습되는 벡터 {tokens}개, 곧 "
    "토큰(token)이 키(key)이자 밸류(value)입니다. 어텐션(attention)이 토큰을 섞은 것이 스타일입니다. espeak-ng가 "
    "같은 글을 여러 방식으로 말할 때(목소리, 높이/빠르기) 두 헤드 가운데 첫째에서 토큰이 받는 가중치는 다음과 "
    "같습니다.",
)
RECORDING = Wording("recording", "녹음")
TOKEN = Wording("token {number}", "토큰 {number}")
ASKING_READ = Wording(
    "Each row is a softmax. Nobody has said what a token stands for; each takes the part that helps to tell "
    "recordings apart.",
    "행마다 소프트맥스(softmax)입니다. 토큰이 무엇을 뜻하는지는 아무도 정해 주지 않았으며, 녹음을 구별하는 데 "
    "도움이 되는 몫을 저마다 맡습니다.",
)

READ_TITLE = Wording("What the weights know", "가중치가 아는 것")
READ = Wording(
    "Can voice, pitch and speed be read off the weights by a linear map, on texts it was not fitted to? Labels are "
    "used here for the first time:",
    "목소리, 높이, 빠르기를 가중치에서 선형 사상으로 읽어 낼 수 있습니까? 맞추는 데 쓰지 않은 글에서 재었고, "
    "표시는 여기서 처음 씁니다.",
)
COLUMN_LABEL = Wording("label", "표시")
COLUMN_RIGHT = Wording("read right", "맞게 읽음")
COLUMN_GUESS = Wording("by guessing", "찍을 때")
COLUMN_COUNT = Wording("recordings", "녹음 수")
READ_READ = Wording(
    "What stands clearly above guessing is in the weights, though no label was shown in training.",
    "찍을 때보다 뚜렷이 높은 것은 가중치 안에 들어 있습니다. 학습 때는 표시를 보여 주지 않았습니다.",
)

SWEEP_TITLE = Wording("Turning one token up", "토큰 하나를 올려 보면")
SWEEP = Wording(
    "Weights may come from anywhere, also from a hand. From the mean style, one token grows from 0 to 1 while the "
    "others keep their proportions. The listener ({steps} updates) foretells the pace (above 1 is slower) and the "
    "middle of the spectrum (mel band):",
    "가중치는 어디에서 와도 되며, 손으로 정해도 됩니다. 평균 스타일에서 토큰 하나를 0에서 1로 올리고 나머지는 "
    "비율을 지킵니다. {steps}번 갱신한 작은 듣는 모델이 빠르기(1보다 크면 느림)와 스펙트럼의 가운데(멜 대역)를 "
    "예측합니다.",
)
PACE = Wording("pace: length against the usual one", "빠르기: 보통 길이에 대한 비율")
BAND = Wording("middle of the spectrum, mel band", "스펙트럼의 가운데, 멜 대역")
WEIGHT = Wording("weight of the token", "토큰의 가중치")
SWEEP_READ = Wording(
    "Of {tokens} tokens, token {fast} lengthens most ({fast_by:+.2f}) and token {slow} shortens most "
    "({slow_by:+.2f}). To hear it, a whole voice is needed: the commands are below.",
    "토큰 {tokens}개 가운데 토큰 {fast}가 가장 많이 늘이고({fast_by:+.2f}), 토큰 {slow}가 가장 많이 "
    "줄입니다({slow_by:+.2f}). 소리로 들으려면 목소리 전체가 필요하며, 명령은 아래에 있습니다.",
)

GIVEN_TITLE = Wording("The voice that was given", "주어진 목소리로")
GIVEN = Wording(
    "It says `{text}` with each token at 0 and at 1, and the sound is measured: pitch in Hz (nothing for a "
    "whisper), and how much faster it becomes:",
    "토큰마다 0과 1로 `{text}`를 말하게 하고 소리를 재었습니다. 높이는 Hz이고(속삭임이면 없음), 얼마나 "
    "빨라지는지도 보입니다.",
)
COLUMN_TOKEN = Wording("token", "토큰")
COLUMN_FROM = Wording("pitch at 0", "0일 때 높이")
COLUMN_TO = Wording("pitch at 1", "1일 때 높이")
COLUMN_PACE = Wording("faster by", "빨라진 배수")

ANSWER = Wording(
    "By attention over {tokens} tokens that only have to tell recordings apart: afterwards the voice is read off "
    "the weights with {voice:.0%} right and the speed with {speed:.0%}, and a token turned up by hand changes the "
    "foretold pace by {slow:+.2f} to {fast:+.2f}.",
    "녹음을 구별하기만 하면 되는 토큰 {tokens}개에 대한 어텐션으로 배웁니다. 그 뒤 가중치에서 목소리를 "
    "{voice:.0%}, 빠르기를 {speed:.0%} 맞게 읽을 수 있고, 토큰 하나를 손으로 올리면 예측되는 빠르기가 "
    "{slow:+.2f}에서 {fast:+.2f}까지 달라집니다.",
)
TRY_TOKENS = Wording(
    "Another number of tokens: what can still be told apart?",
    "토큰 수를 바꾸면 무엇을 아직 구별할 수 있습니까?",
)
ORIGIN_TOKENS = Wording("style tokens, and control by their weights", "스타일 토큰과 가중치로 조절하기")
ORIGIN_TACOTRON = Wording("the voice that they steer", "토큰이 이끄는 목소리")
