"""The words of the lesson *search*."""

from seq2see.learn.wording import Wording

TITLE = Wording("From probabilities to a sentence", "확률에서 문장으로")
SUMMARY = Wording(
    "teacher forcing, greedy against beam search, the beam tree, the length penalty",
    "교사 강요, 탐욕 탐색과 빔 탐색, 빔 트리, 길이 페널티",
)
QUESTION = Wording(
    "A model gives a probability to each next word, and never to a sentence at once. How does it learn from whole "
    "sentences, and how does it find a good one to say?",
    "모델은 다음 단어의 확률만 알려 주고, 문장 전체의 확률을 한꺼번에 알려 주지 않습니다. 그런데 어떻게 문장 "
    "전체에서 배우고, 어떻게 좋은 문장을 찾아 말합니까?",
)

FORCED_TITLE = Wording("Training: the decoder reads the true words", "학습: 디코더는 정답을 읽습니다")
FORCED = Wording(
    "While it learns, the decoder reads the true words so far, whatever it would have said itself: teacher "
    "forcing. Here `{source}` has several translations; in 100 pairs `{target}` comes 40 times. At each position: "
    "how often the word follows in the pairs, what the trained model says, and what it costs, - log p:",
    "학습할 때 디코더(decoder)는 자기가 무엇이라고 했을지와 상관없이 지금까지의 정답 단어를 읽습니다. 이것이 교사 "
    "강요(teacher forcing)입니다. 여기서 `{source}`는 번역이 여러 가지이고, 100쌍 가운데 `{target}`가 40번 "
    "나옵니다. 자리마다 그 단어가 실제로 뒤따르는 비율, 학습된 모델의 확률, 손실 - log p를 보입니다.",
)
COLUMN_SAID = Wording("read so far", "읽은 것")
COLUMN_NEXT = Wording("next", "다음")
COLUMN_SHARE = Wording("in the pairs", "실제 비율")
COLUMN_MODEL = Wording("model", "모델")
COLUMN_LOSS = Wording("- log p", "- log p")
FORCED_READ = Wording(
    "The losses add up to {total:.3f}, and exp(-{total:.3f}) = {probability:.3f} is the probability of the whole "
    "sentence: the product over its words. All positions are learned at once, because no word has to be generated "
    "first.",
    "손실을 더하면 {total:.3f}이고, exp(-{total:.3f}) = {probability:.3f}이 문장 전체의 확률, 곧 단어 확률의 "
    "곱입니다. 단어를 먼저 만들어 낼 필요가 없으므로 모든 자리를 한꺼번에 학습합니다.",
)

GREEDY_TITLE = Wording("Translating: always the likeliest word", "번역: 늘 가장 그럴듯한 단어")
GREEDY = Wording(
    "Nobody tells it the true words now. Greedy search takes the likeliest word at each step, and reads it as the "
    "next input:",
    "이제는 아무도 정답을 알려 주지 않습니다. 탐욕 탐색(greedy search)은 단계마다 가장 그럴듯한 단어를 고르고, "
    "그것을 다음 입력으로 읽습니다.",
)
COLUMN_CHOSEN = Wording("chosen", "고른 단어")
COLUMN_PRODUCT = Wording("product", "지금까지의 곱")
COLUMN_OTHERS = Wording("next best", "그다음 후보")
GREEDY_READ = Wording(
    "It says `{text}`, with a probability of {probability:.3f} in all. The first word was the likeliest first "
    "word; the sentence need not be the likeliest sentence.",
    "`{text}`라고 말하며 전체 확률은 {probability:.3f}입니다. 첫 단어로는 가장 그럴듯했지만, 문장으로도 가장 "
    "그럴듯하다는 법은 없습니다.",
)

BEAM_TITLE = Wording("Translating: several beginnings at a time", "번역: 시작을 여럿 남겨 두기")
BEAM = Wording(
    "Beam search keeps the {width} best beginnings at each step and extends all of them. What it considered, kept "
    "and dropped:",
    "빔 탐색(beam search)은 단계마다 가장 좋은 시작 {width}개를 남기고 모두 이어 갑니다. 살펴본 것, 남긴 것, 버린 "
    "것은 다음과 같습니다.",
)
COLUMN_HYPOTHESIS = Wording("hypothesis", "후보")
COLUMN_LOG = Wording("log p", "log p")
COLUMN_PROBABILITY = Wording("probability", "확률")
COLUMN_TRUE = Wording("in the pairs", "실제 비율")
BEAM_READ = Wording(
    "Greedy: `{greedy}`, {greedy_p:.3f}. Beam of {width}: `{beam}`, {beam_p:.3f}. The beam keeps beginnings "
    "that are not the likeliest, and can find a likelier sentence behind them.",
    "탐욕 탐색은 `{greedy}`, {greedy_p:.3f}이고, 빔 {width}개로는 `{beam}`, {beam_p:.3f}입니다. 빔은 가장 "
    "그럴듯하지 않은 시작도 남겨 두므로, 그 뒤에서 더 그럴듯한 문장을 찾을 수 있습니다.",
)

LENGTH_TITLE = Wording("Short sentences have an advantage", "짧은 문장이 유리합니다")
LENGTH = Wording(
    "Every further word multiplies by a number below 1, so that sums of log p favour short sentences. For "
    "`{source}` the score is divided by a power of the length (alpha {alpha:g}):",
    "단어가 늘 때마다 1보다 작은 수를 곱하므로 log p의 합은 짧은 문장에 유리합니다. `{source}`의 점수를 길이의 "
    "거듭제곱으로 나누어 봅니다(alpha {alpha:g}). 이것이 길이 페널티(length penalty)입니다.",
)
COLUMN_LENGTH = Wording("length", "길이")
COLUMN_DIVISOR = Wording("divided by", "나누는 수")
COLUMN_SCORE = Wording("score", "점수")
LENGTH_READ = Wording(
    "By log p alone the best is `{plain}`; with alpha {alpha:g} it is `{penalised}`.",
    "log p만으로는 `{plain}`가 가장 좋고, alpha {alpha:g}로는 `{penalised}`가 가장 좋습니다.",
)

ANSWER = Wording(
    "It learns each word given the true words before it, all at once; the losses add up to - log p of the "
    "sentence. It speaks by searching: greedy says `{greedy}` ({greedy_p:.2f}), a beam of {width} finds `{beam}` "
    "({beam_p:.2f}). The model and its probabilities are the same; only the search differs.",
    "앞의 정답이 주어졌을 때의 단어를 한꺼번에 배우며, 손실을 더하면 문장의 - log p가 됩니다. 말할 때는 "
    "탐색합니다. 탐욕 탐색은 `{greedy}`({greedy_p:.2f}), 빔 {width}개는 `{beam}`({beam_p:.2f})을 찾습니다. 모델과 "
    "확률은 같고, 탐색만 다릅니다.",
)
TRY_BEAM = Wording("A narrower beam: is it still found?", "빔을 좁히면 아직도 찾습니까?")
TRY_ALPHA = Wording("No length penalty: which greeting wins?", "길이 페널티를 없애면 어느 인사가 이깁니까?")
ORIGIN_BEAM = Wording(
    "training on the log probability of the true translation; a left-to-right beam search",
    "정답 번역의 로그 확률로 하는 학습, 왼쪽에서 오른쪽으로 가는 빔 탐색",
)
ORIGIN_FORCING = Wording("the probability of a sentence, word by word", "단어마다 곱해 얻는 문장의 확률")
ORIGIN_PENALTY = Wording("length normalisation and coverage", "길이 정규화와 커버리지(coverage)")
