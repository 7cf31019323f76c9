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
    "같은 문장도 높게 또는 낮게, 빠르게 또는 느리게 말할 수 있습니다. 녹음에 그런 라벨(label)을 붙여 두는 사람은 "
    "없습니다. 목소리는 어떻게 소리만 듣고 스타일(style)을 배우며, 나중에 어떻게 그 가운데 고를 수 있습니까?",
)

ASKING_TITLE = Wording("The query is a recording", "쿼리는 녹음입니다")
ASKING = Wording(
    "A small network summarises a recording in one vector: the query. {tokens} learned vectors, the tokens, are keys "
    "and values. Attention mixes them, and the mixture is the style. The weights of the tokens in the first of {heads} "
    "heads, when espeak-ng says `{text}` in several manners (voice, pitch/speed):",
    "작은 신경망이 녹음을 벡터 하나로 요약하며, 이것이 쿼리(query)입니다. 학습되는 벡터 {tokens}개, 곧 "
    "토큰(token)이 키(key)이자 밸류(value)입니다. 어텐션(attention)이 토큰을 섞은 것이 스타일입니다. espeak-ng가 "
    "같은 글(`{text}`)을 여러 방식으로 말할 때(목소리, 높이/빠르기) 헤드(head) {heads}개 가운데 첫째에서 토큰이 받는 "
    "가중치(weight)는 다음과 같습니다.",
)
RECORDING = Wording("recording", "녹음")
TOKEN = Wording("token {number}", "토큰 {number}")
ASKING_READ = Wording(
    "Each row is a softmax. Nobody has said what a token stands for: training asks that the style predict the mean "
    "spectrum and the pace of its recording, and that it tell recordings apart.",
    "행마다 소프트맥스(softmax)입니다. 토큰이 무엇을 뜻하는지는 아무도 정해 주지 않았습니다. 학습은 스타일이 녹음의 "
    "평균 스펙트럼과 빠르기를 예측하고 녹음을 서로 구별하도록 요구할 뿐입니다.",
)

READ_TITLE = Wording("What the weights know", "가중치가 아는 것")
READ = Wording(
    "Can voice, pitch and speed be read off the weights by a linear map? The share that is read right, on three sets: "
    "the {heard} recordings of training, {unheard} of other texts made of the same words, {other_words} of texts made "
    "of other words. Each text is read by a map that was fitted to the other texts of its set. Labels are used here "
    "for the first time:",
    "목소리, 높이, 빠르기를 가중치에서 선형 사상(linear map)으로 읽어 낼 수 있습니까? 맞게 읽은 비율을 세 묶음에서 "
    "재었습니다. 학습에 쓴 녹음 {heard}개, 같은 단어로 된 다른 글의 녹음 {unheard}개, 다른 단어로 된 글의 녹음 "
    "{other_words}개입니다. 글마다 그 묶음의 다른 글들에 맞춘 선형 사상으로 읽으며, 라벨은 여기서 처음 씁니다.",
)
COLUMN_LABEL = Wording("label", "라벨")
COLUMN_GUESS = Wording("guessing", "찍을 때")
COLUMN_HEARD = Wording("trained on", "학습한 것")
COLUMN_UNHEARD = Wording("other texts", "다른 글")
COLUMN_OTHER = Wording("other words", "다른 단어")
LABELS = {
    "voice": Wording("voice", "목소리"),
    "pitch": Wording("pitch", "높이"),
    "speed": Wording("speed", "빠르기"),
}
READ_READ = Wording(
    "What lies clearly above guessing is in the weights, though training saw no label. What is read worse from other "
    "words was partly known by the words.",
    "찍을 때보다 뚜렷이 높은 것은 가중치 안에 들어 있습니다. 학습할 때는 라벨을 보지 않았습니다. 다른 단어에서 더 "
    "나쁘게 읽히는 것은 단어에 기대어 알던 것입니다.",
)

SWEEP_TITLE = Wording("Turning one token up", "토큰 하나를 올려 보면")
SWEEP = Wording(
    "Weights need not come from a recording; they can be set by hand. From the mean style, the weight of one token "
    "grows from 0 to 1 in the head that uses it most, while the others keep their proportions. From this style the "
    "model ({steps} updates) predicts the length of the recording (1 is usual, above 1 is slower) and the centre of "
    "its spectrum (mel band):",
    "가중치는 꼭 녹음에서 오지 않아도 되며, 손으로 정할 수도 있습니다. 평균 스타일에서 토큰 하나의 가중치를 그것을 "
    "가장 많이 쓰는 헤드에서 0에서 1까지 올리고, 나머지는 비율을 지킵니다. {steps}번 갱신한 모델이 이 스타일에서 "
    "녹음의 길이(1이면 보통, 1보다 크면 느림)와 스펙트럼의 중심(멜 대역)을 예측합니다.",
)
PACE = Wording("length against the usual one", "보통 길이에 대한 비율")
BAND = Wording("centre of the spectrum, mel band", "스펙트럼의 중심, 멜 대역")
WEIGHT = Wording("weight of the token", "토큰의 가중치")
SWEEP_READ = Wording(
    "From weight 0 to 1, token {longer} changes the length most upwards ({longer_by:+.2f}), token {shorter} most "
    "downwards ({shorter_by:+.2f}). The recordings of training lie between {low:.2f} and {high:.2f}; what is predicted "
    "outside is an extrapolation. This model listens and does not speak: to hear a sweep, give it a trained voice (the "
    "commands are below).",
    "가중치를 0에서 1로 올리면 토큰 {longer}번이 길이를 가장 크게 늘리고({longer_by:+.2f}), 토큰 {shorter}번이 가장 "
    "크게 줄입니다({shorter_by:+.2f}). 학습한 녹음은 {low:.2f}와 {high:.2f} 사이에 있으므로 그 밖의 예측은 "
    "외삽입니다. 이 모델은 듣기만 하고 말하지 못합니다. 소리로 들으려면 학습된 목소리를 주십시오(명령은 아래에 "
    "있습니다).",
)

GIVEN_TITLE = Wording("The voice that was given", "주어진 목소리로")
GIVEN = Wording(
    "`{run}` says `{text}` with the weight of each token at 0, 0.5 and 1 in every head, and the sound is measured: "
    "pitch in Hz (nothing where it is not voiced), and speed against that at weight 0:",
    "`{run}`에게 토큰마다 모든 헤드의 가중치를 0, 0.5, 1로 하여 같은 글(`{text}`)을 말하게 하고 소리를 재었습니다. "
    "높이는 Hz이고(유성음이 아니면 비움), 빠르기는 가중치 0일 때에 대한 배수입니다.",
)
COLUMN_TOKEN = Wording("token", "토큰")
COLUMN_FROM = Wording("pitch at 0", "0일 때 높이")
COLUMN_TO = Wording("pitch at 1", "1일 때 높이")
COLUMN_PACE = Wording("speed at 1", "1일 때 빠르기")
GIVEN_PACE = Wording("speed against weight 0", "가중치 0에 대한 빠르기")
GIVEN_HEAR = Wording("Each token at weight 1, to be heard:", "토큰마다 가중치를 1로 하면 이렇게 들립니다.")
SOUND = Wording("token {token} at 1", "토큰 {token} = 1")

ANSWER = Wording(
    "By attention over {tokens} tokens. On texts that training has not heard, voice is read off the weights rightly "
    "in {voice:.0%}, speed in {speed:.0%} and pitch in {pitch:.0%} of the recordings; speed in {other:.0%} where the "
    "words are new too. One chooses by setting weights: turning up one token changes the predicted length by "
    "{shorter:+.2f} to {longer:+.2f}.",
    "토큰 {tokens}개에 대한 어텐션으로 배웁니다. 학습할 때 듣지 않은 글에서 목소리를 {voice:.0%}, 빠르기를 "
    "{speed:.0%}, 높이를 {pitch:.0%} 맞게 읽을 수 있고, 단어까지 새로우면 빠르기는 {other:.0%}입니다. 고르는 일은 "
    "가중치를 정하는 것입니다. 토큰 하나를 올리면 예측되는 길이가 {shorter:+.2f}에서 {longer:+.2f}까지 달라집니다.",
)
TRY_TOKENS = Wording(
    "Another number of tokens: what can still be told apart?",
    "토큰 수를 바꾸면 무엇을 아직 구별할 수 있습니까?",
)
ORIGIN_TOKENS = Wording("style tokens, and control by their weights", "스타일 토큰과 가중치로 조절하기")
ORIGIN_TACOTRON = Wording("the voice that they steer", "토큰이 이끄는 목소리")
