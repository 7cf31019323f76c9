"""The words of the lesson *when*."""

from seq2see.learn.wording import Wording

TITLE = Wording("When to look: before the step or after it", "언제 볼 것인가: 상태를 갱신하기 전과 후")
SUMMARY = Wording(
    "Bahdanau's s_t-1 against Luong's s_t, input feeding, local attention",
    "바다나우의 s_t-1과 루옹의 s_t, 인풋 피딩, 로컬 어텐션",
)
QUESTION = Wording(
    "A decoder that is about to generate word t has a state before the step, s_t-1, and one after it, s_t. Bahdanau's "
    "query is the first, Luong's the second. Does it matter? And what if it may look only at a window, or is given "
    "what it looked at before?",
    "t번째 단어를 만들려는 디코더(decoder)에는 갱신하기 전의 상태(state) s_t-1과 갱신한 뒤의 상태 s_t가 있습니다. "
    "바다나우(Bahdanau)는 앞의 것을, 루옹(Luong)은 뒤의 것을 쿼리(query)로 씁니다. 차이가 있습니까? 창(window) 안만 "
    "볼 수 있거나, 앞에서 무엇을 보았는지 알려 주면 어떻게 됩니까?",
)
ORDER_TITLE = Wording("The same parts in another order", "같은 부품, 다른 순서")
ORDER = Wording(
    "Bahdanau looks first: the context goes into the cell, and the new state contains it. Luong steps first: the new "
    "state is the query, and the context is joined to it only for predicting the word.",
    "바다나우는 먼저 봅니다. 컨텍스트(context)가 셀(cell)에 들어가므로 새 상태에 그것이 담깁니다. 루옹은 상태를 먼저 "
    "갱신합니다. 새 상태가 쿼리가 되고, 컨텍스트는 단어를 예측할 때에야 합쳐집니다.",
)
FEEDING = Wording(
    "So Luong's next step would not know what was looked at. Input feeding changes that: h~_t goes into the next step, "
    "together with the word.",
    "그래서 루옹의 다음 단계는 앞에서 무엇을 보았는지 모릅니다. 인풋 피딩(input feeding)은 h~_t를 단어와 함께 다음 "
    "단계에 넣어 이것을 알려 줍니다.",
)
ERROR_TITLE = Wording("Five models, one table", "다섯 모델을 한 표에")
ERROR = Wording(
    "Five small models learned the same {pairs:,} Korean-English pairs of at most {longest} words, {updates:,} "
    "updates each; nobody told them where to look. On {tested} unseen pairs the grammar knows which word belongs to "
    "which. AER is the share of links that are wrong or missing (0 is perfect); a diagonal would have "
    "{diagonal:.3f}.",
    "작은 모델 다섯이 {longest}단어 이하의 같은 한영 문장 쌍 {pairs:,}개를 {updates:,}번씩 갱신하며 배웠습니다. "
    "어디를 보라고 알려 주지는 않았습니다. 본 적 없는 문장 쌍 {tested}개에서는 어느 단어가 어느 단어에 해당하는지 "
    "문법이 알고 있습니다. AER(alignment error rate)은 틀리거나 빠진 연결의 비율로, 0이면 완벽합니다. 대각선으로 "
    "이으면 {diagonal:.3f}입니다.",
)
COLUMN_MODEL = Wording("model", "모델")
COLUMN_QUERY = Wording("query", "쿼리")
COLUMN_AER = Wording("AER", "AER")
COLUMN_EXACT = Wording("exact", "일치")
COLUMN_ENTROPY = Wording("entropy", "엔트로피(entropy)")
COLUMN_UNSEEN = Wording("missed", "안 본 단어")
ERROR_READ = Wording(
    "*exact* is the share of sentences that are translated word for word as the reference, *entropy* how wide a row "
    "is spread (0: one word), *missed* the source words that no row gives {seen:.0%} or more. Lowest AER: {best} "
    "({best_aer:.3f}); highest: {worst} ({worst_aer:.3f}). It is one short training of each: a figure here is no "
    "verdict on a paper.",
    "*일치*는 정답과 한 단어도 다르지 않게 번역한 문장의 비율, *엔트로피*는 한 행이 얼마나 퍼져 있는지(0이면 한 "
    "단어), *안 본 단어*는 어느 행도 {seen:.0%} 이상 보지 않은 원문 단어의 비율입니다. AER이 가장 낮은 것은 "
    "{best}({best_aer:.3f}), 가장 높은 것은 {worst}({worst_aer:.3f})입니다. 짧게 한 번씩 학습했을 뿐이므로 이 숫자로 "
    "논문을 판정할 수는 없습니다.",
)
SENTENCE_TITLE = Wording("One sentence through all of them", "한 문장을 모두에게")
SENTENCE = Wording(
    "Unseen sentence {number} of {count}, {crossings} pairs of its words change their order. Each model is asked how "
    "it would say the reference, so that the rows are the same words.",
    "본 적 없는 문장 {count}개 가운데 {number}번이며, 순서가 뒤바뀌는 단어 쌍이 {crossings}개입니다. 행의 단어가 "
    "같도록 모든 모델에게 정답을 말하게 했습니다.",
)
MAP = Wording("{name}: AER of this sentence {aer:.3f}", "{name}: 이 문장의 AER {aer:.3f}")
LOCAL_TITLE = Wording("Where the windows are", "창의 자리")
LOCAL = Wording(
    "local-m centres its window, {window} words to either side, at p_t = t, as if both languages had one order. "
    "local-p predicts p_t from s_t, and multiplies the weights by a Gaussian around it. For the same sentence, "
    "beside the place the grammar gives:",
    "local-m은 두 언어의 어순이 같다고 보고 p_t = t를 가운데로 양쪽 {window}단어의 창을 엽니다. local-p는 s_t에서 "
    "p_t를 예측하고 그 둘레의 가우스 함수(Gaussian)를 가중치에 곱합니다. 같은 문장에서, 문법이 알려 주는 자리와 "
    "나란히 보입니다.",
)
COLUMN_WORD = Wording("word t", "단어 t")
COLUMN_TRUE = Wording("true place", "맞는 자리")
COLUMN_M = Wording("p_t local-m", "p_t local-m")
COLUMN_P = Wording("p_t local-p", "p_t local-p")
COLUMN_INSIDE_M = Wording("in window m", "창 안 m")
COLUMN_INSIDE_P = Wording("in window p", "창 안 p")
YES = Wording("yes", "예")
NO = Wording("no", "아니요")
LOCAL_READ = Wording(
    "The true place lies within local-m's window for {inside_m} of {rows} words, within local-p's for {inside_p}. "
    "What lies outside cannot be looked at, whatever the score says.",
    "맞는 자리가 창 안에 있는 것은 {rows}단어 가운데 local-m이 {inside_m}개, local-p가 {inside_p}개입니다. 창 밖에 "
    "있는 것은 점수가 무엇이든 볼 수 없습니다.",
)
ANSWER = Wording(
    "Here Bahdanau's s_t-1 with its additive score has an AER of {bahdanau:.3f}, Luong's s_t with dot products "
    "{luong:.3f}, and {feeding:.3f} with input feeding. A fixed window (local-m) has {local_m:.3f}, a predicted one "
    "(local-p) {local_p:.3f}; a diagonal would have {diagonal:.3f}. One short training each does not rank the papers.",
    "여기에서 additive 점수(score)를 쓰는 바다나우의 s_t-1은 AER이 {bahdanau:.3f}, 내적(dot product)을 쓰는 루옹의 "
    "s_t는 {luong:.3f}, 인풋 피딩을 더하면 {feeding:.3f}입니다. 고정된 창(local-m)은 {local_m:.3f}, 예측한 "
    "창(local-p)은 {local_p:.3f}이며, 대각선으로 이으면 {diagonal:.3f}입니다. 짧게 한 번씩 학습한 것으로 논문의 "
    "순위를 매길 수는 없습니다.",
)
TRY_SENTENCE = Wording("Another unseen sentence.", "본 적 없는 다른 문장으로 해 보십시오.")
ORIGIN_BAHDANAU = Wording("the query s_i-1, in the equation of e_ij", "e_ij 식의 쿼리 s_i-1")
ORIGIN_GLOBAL = Wording("the query h_t and where it differs from Bahdanau's", "쿼리 h_t와, 바다나우와 다른 점")
ORIGIN_LOCAL = Wording("local-m and local-p", "local-m과 local-p")
ORIGIN_FEEDING = Wording("input feeding", "인풋 피딩")

NAMES = {
    "bahdanau": "Bahdanau",
    "luong": "Luong",
    "feeding": "Luong, input feeding",
    "local_m": "Luong, local-m",
    "local_p": "Luong, local-p",
}
