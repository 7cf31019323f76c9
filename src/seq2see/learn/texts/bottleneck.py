"""The words of the lesson *bottleneck*."""

from seq2see.learn.wording import Wording

TITLE = Wording("One vector for a whole sentence", "문장 전체를 벡터 하나에")
SUMMARY = Wording(
    "one vector for a whole sentence: what length does to it",
    "문장 전체를 담은 벡터 하나, 문장이 길어지면 생기는 일",
)
QUESTION = Wording(
    "The first neural translation models read the whole sentence into one vector and generated the translation from "
    "it. What happens when sentences grow longer, and what does attention change?",
    "최초의 신경망 번역 모델들은 문장 전체를 벡터(vector) 하나에 담고, 그 벡터에서 번역문을 만들어 냈습니다. 문장이 "
    "길어지면 어떻게 되며, 어텐션(attention)은 무엇을 바꿉니까?",
)
VECTOR_TITLE = Wording("The arithmetic of one vector", "벡터 하나의 산수")
VECTOR = Wording(
    "Without attention the encoder hands over {width} numbers, however long the sentence is. With attention it hands "
    "over {width} numbers for each word, and the decoder looks at them anew before every word it says.",
    "어텐션이 없으면 인코더(encoder)는 문장이 아무리 길어도 숫자 {width}개만 넘겨줍니다. 어텐션이 있으면 단어마다 "
    "숫자 {width}개를 넘겨주고, 디코더(decoder)는 한 단어를 말할 때마다 이것을 새로 봅니다.",
)
COLUMN_WORDS = Wording("words", "단어")
COLUMN_VECTOR = Wording("one vector", "벡터 하나")
COLUMN_EACH = Wording("per word", "단어당")
COLUMN_STATES = Wording("all states", "모든 상태")
COLUMN_STATES_EACH = Wording("per word", "단어당")
QUALITY_TITLE = Wording("Quality by length", "길이에 따른 품질")
QUALITY = Wording(
    "Two models of equal size, trained on the same Korean-English pairs for about the same time: `rnn` without "
    "attention, `rnnsearch` with it. Both translate {sentences:,} sentences they have not seen, grouped by the words "
    "of the reference:",
    "크기가 같은 두 모델을 같은 한영 문장 쌍으로 거의 같은 시간 동안 학습했습니다. `rnn`은 어텐션이 없고 "
    "`rnnsearch`는 있습니다. 두 모델이 본 적 없는 문장 {sentences:,}개를 번역한 결과를 정답 번역의 단어 수로 "
    "묶었습니다.",
)
COLUMN_BUCKET = Wording("words", "단어 수")
COLUMN_SENTENCES = Wording("sentences", "문장")
CHART = Wording("{label} by length", "길이에 따른 {label}")
FAMILY_NAMES = {
    "rnn": Wording("rnn, one vector", "rnn, 벡터 하나"),
    "rnnsearch": Wording("rnnsearch, attention", "rnnsearch, 어텐션"),
}
QUALITY_READ = Wording(
    "From sentences of {first} words to those of {last}, {label} goes from {rnn_short:.1f} to {rnn_long:.1f} without "
    "attention, and from {rnnsearch_short:.1f} to {rnnsearch_long:.1f} with it.",
    "{first}단어 문장에서 {last}단어 문장으로 가면 {label} 점수가 어텐션이 없을 때 {rnn_short:.1f} → {rnn_long:.1f}, "
    "있을 때 {rnnsearch_short:.1f} → {rnnsearch_long:.1f}입니다.",
)
SURE = Wording(
    "In the longest group they are {gap:.1f} points apart (95 % interval {low:.1f} to {high:.1f}, paired bootstrap).",
    "가장 긴 묶음에서 둘의 차이는 {gap:.1f}점입니다(95 % 구간 {low:.1f} ~ {high:.1f}, 쌍 부트스트랩(paired "
    "bootstrap)).",
)
SENTENCE_TITLE = Wording("A typical long sentence", "전형적인 긴 문장")
SENTENCE = Wording(
    "Of the longest group, the sentence in the middle by what attention gains: half of the others gain more, half "
    "less.",
    "가장 긴 묶음에서 어텐션으로 얻는 것이 한가운데인 문장입니다. 나머지의 반은 더 많이, 반은 더 적게 얻습니다.",
)
SOURCE = Wording("Source: {text}", "원문: {text}")
REFERENCE = Wording("Reference: {text}", "정답: {text}")
WITHOUT = Wording("Without attention: {text}", "어텐션 없이: {text}")
WITH = Wording("With attention: {text}", "어텐션으로: {text}")
KEPT = Wording(
    "Of the {all} different words of the reference {rnn} are said without attention, {rnnsearch} with it.",
    "정답에 나오는 서로 다른 단어 {all}개 가운데 어텐션 없이는 {rnn}개, 어텐션으로는 {rnnsearch}개를 말했습니다.",
)
INSTEAD_TITLE = Wording("What attention does instead", "어텐션은 어떻게 다른가")
INSTEAD = Wording(
    "`rnnsearch` keeps the state of every word. Before each word it says, it computes weights over them and takes "
    "their weighted sum: a new vector c_t for every word instead of one c for all. A row below shows "
    "these weights for one word:",
    "`rnnsearch`는 모든 단어의 상태(state)를 간직합니다. 한 단어를 말하기 전에 상태마다 가중치(weight)를 계산해 "
    "가중합을 얻습니다. 모두를 위한 c 하나가 아니라 단어마다 새로운 벡터 c_t입니다. 아래의 한 행이 한 단어의 "
    "가중치입니다.",
)
ANSWER = Wording(
    "Without attention, {width} numbers have to hold any sentence: for sentences of {first} words {label} is "
    "{rnn_short:.1f}, for those of {last} it is {rnn_long:.1f}. With attention each word keeps its own {width} "
    "numbers: {rnnsearch_short:.1f} and {rnnsearch_long:.1f}.",
    "어텐션이 없으면 숫자 {width}개에 어떤 문장이든 담아야 합니다. {label} 점수는 {first}단어 문장에서 "
    "{rnn_short:.1f}, {last}단어 문장에서 {rnn_long:.1f}입니다. 어텐션이 있으면 단어마다 숫자 {width}개를 간직하며, "
    "점수는 {rnnsearch_short:.1f}와 {rnnsearch_long:.1f}입니다.",
)
TRY_EDGES = Wording(
    "Group the sentences otherwise: short, middle, long.",
    "문장을 짧은 것, 중간, 긴 것으로 다시 묶어 보십시오.",
)
TRY_METRIC = Wording(
    "Measure by chrF, which counts letters instead of words: does the picture hold?",
    "단어 대신 글자를 세는 chrF로 재어 보십시오. 그림이 그대로입니까?",
)
ORIGIN_SUTSKEVER = Wording("one vector, handed from encoder to decoder", "인코더에서 디코더로 넘겨주는 벡터 하나")
ORIGIN_CHO = Wording("quality falls with length", "길이에 따라 떨어지는 품질")
ORIGIN_BAHDANAU = Wording("attention, and the same curve with it", "어텐션, 그리고 어텐션이 있을 때의 같은 곡선")
