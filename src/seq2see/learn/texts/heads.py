"""The words of the lesson *heads*."""

from seq2see.learn.wording import Wording

TITLE = Wording("Three kinds of attention, many heads", "세 가지 어텐션과 여러 헤드")
SUMMARY = Wording(
    "self-, masked and cross-attention; what each head does, in numbers; a word with two meanings",
    "셀프, 마스크드, 크로스 어텐션과 헤드마다 하는 일, 그리고 뜻이 둘인 단어",
)
QUESTION = Wording(
    "A Transformer has attention in three places, and several heads in each. Do the heads really differ, and what "
    "would be missing without them?",
    "트랜스포머(Transformer)에는 어텐션(attention)이 세 곳에 있고, 곳마다 헤드(head)가 여럿입니다. 헤드들은 정말 "
    "서로 다르며, 없으면 무엇을 잃습니까?",
)

ENCODER = Wording("encoder", "인코더")
DECODER = Wording("decoder", "디코더")
CROSS = Wording("cross", "크로스")
KINDS_TITLE = Wording("Three kinds of attention", "세 가지 어텐션")
KINDS = Wording(
    "A Transformer of two layers with four heads has learned short sentences, Korean to English. It translates "
    "`{source}` as `{target}`. The weights of its three attentions, mean of all heads: in the encoder every word sees "
    "every word (self-attention); in the decoder a word sees only the words before it (masked); in cross-attention the "
    "target words look at the source:",
    "층이 둘이고 헤드가 넷인 트랜스포머가 짧은 문장을 한국어에서 영어로 배웠습니다. `{source}`를 `{target}`로 "
    "옮깁니다. 세 어텐션의 가중치(weight)를 모든 헤드의 평균으로 보입니다. 인코더(encoder)에서는 모든 단어가 모든 "
    "단어를 보고(셀프 어텐션(self-attention)), 디코더(decoder)에서는 앞에 나온 단어만 보며(마스크(mask)), 크로스 "
    "어텐션(cross-attention)에서는 번역문의 단어가 원문을 봅니다.",
)
KINDS_READ = Wording(
    "Rows look at columns; each row adds up to 1. In the decoder nothing stands above the diagonal.",
    "행이 열을 보며, 행마다 더하면 1입니다. 디코더에서는 대각선 위에 아무것도 없습니다.",
)
KINDS_MORE = Wording(
    "All three are the same code, `MultiHead`; what differs is where queries and keys come from, and the mask.",
    "셋 다 같은 코드 `MultiHead`입니다. 다른 것은 쿼리(query)와 키(key)가 어디에서 오는지와 마스크뿐입니다.",
)

TABLE_TITLE = Wording("Every head in numbers", "모든 헤드를 숫자로")
TABLE = Wording(
    "Measured on {count} unseen sentences: how spread out a row is (entropy, 0 looks at one word), how far away it "
    "looks (positions), how much of the weight lies on special tokens such as </s>, and how much the loss of a word "
    "grows when this one head is switched off (nats):",
    "본 적 없는 문장 {count}개에서 재었습니다. 행이 얼마나 퍼져 있는지(엔트로피(entropy), 0이면 한 단어만 봄), "
    "얼마나 멀리 보는지(자리 수), </s> 같은 특수 토큰(special token)에 가중치를 얼마나 두는지, 그리고 이 헤드 하나만 "
    "껐을 때 단어의 손실(loss)이 얼마나 늘어나는지(나트(nat))입니다.",
)
COLUMN_KIND = Wording("kind", "종류")
COLUMN_HEAD = Wording("layer.head", "층.헤드")
COLUMN_ENTROPY = Wording("entropy", "엔트로피")
COLUMN_DISTANCE = Wording("distance", "거리")
COLUMN_MARKS = Wording("special", "특수 토큰")
COLUMN_LOST = Wording("loss if off", "끄면 느는 손실")
TABLE_READ = Wording(
    "Entropies lie between {low:.2f} and {high:.2f}: heads do differ. The loss grows most without {most} "
    "({most_lost:+.3f}), least without {least} ({least_lost:+.3f}).",
    "엔트로피가 {low:.2f}에서 {high:.2f}까지 있으므로 헤드들은 서로 다릅니다. 손실은 {most} 헤드를 끌 때 가장 많이 "
    "늘고({most_lost:+.3f}), {least} 헤드를 끌 때 가장 적게 늡니다({least_lost:+.3f}).",
)

MEANINGS_TITLE = Wording("One word, two meanings", "한 단어, 두 가지 뜻")
MEANINGS = Wording(
    "`{word}` is {one} or {other}, depending on the verb. Its word vector is the same in both sentences. How similar "
    "are its vectors in the two sentences (cosine) after each block of the encoder?",
    "`{word}`의 뜻은 동사에 따라 {one} 또는 {other}입니다. 단어 벡터는 두 문장에서 같습니다. 인코더의 블록을 "
    "하나씩 지날 때마다 두 문장에서 이 단어의 벡터는 얼마나 비슷합니까(코사인(cosine))?",
)
COLUMN_BEHIND = Wording("after", "지난 곳")
COLUMN_ALIKE = Wording("cosine", "코사인")
WORD_VECTOR = Wording("word vector", "단어 벡터")
BLOCK_NUMBER = Wording("block {number}", "{number}번 블록")
MEANINGS_READ = Wording(
    "From {first:.3f} to {last:.3f}: the sentences differ in the verb alone, so attention has carried the verb into "
    "the noun. What if every head of the encoder's self-attention is switched off, so that no word sees another?",
    "{first:.3f}에서 {last:.3f}로 달라졌습니다. 두 문장은 동사만 다르므로, 어텐션이 동사를 명사의 벡터에 옮긴 "
    "것입니다. 그러면 인코더의 셀프 어텐션 헤드를 모두 꺼서 단어끼리 서로 못 보게 하면 어떻게 됩니까?",
)
COLUMN_SENTENCE = Wording("sentence", "문장")
COLUMN_TOLD = Wording("translation", "번역")
COLUMN_BLIND = Wording("without encoder attention", "인코더 어텐션 없이")
BLIND_READ = Wording(
    "What is still right then comes from the decoder: its cross-attention can look at the verb, and it has already "
    "generated the English one. The encoder's self-attention is one way to tell the meanings apart, not the only one.",
    "그래도 맞는 것은 디코더 덕분입니다. 디코더의 크로스 어텐션도 동사를 볼 수 있고, 영어 동사를 이미 만들어 냈기 "
    "때문입니다. 인코더의 셀프 어텐션은 뜻을 가르는 한 가지 길이지 하나뿐인 길은 아닙니다.",
)

ANSWER = Wording(
    "They differ: entropies from {low:.2f} to {high:.2f}, and switching one off changes the loss by {least_lost:+.3f} "
    "to {most_lost:+.3f} nats a word. Together they tell the two meanings of {word} apart: the cosine of its vectors "
    "in two sentences is {first:.2f} at first and {last:.2f} in the end.",
    "서로 다릅니다. 엔트로피가 {low:.2f}에서 {high:.2f}까지이고, 하나를 끄면 단어마다 손실이 {least_lost:+.3f}에서 "
    "{most_lost:+.3f}나트까지 달라집니다. 헤드들이 함께 {word}의 두 뜻을 가릅니다. 두 문장에서 이 단어의 벡터 사이의 "
    "코사인은 처음에 {first:.2f}, 끝에 {last:.2f}입니다.",
)
TRY_WORD = Wording("Another word with two meanings:", "뜻이 둘인 다른 단어입니다.")
TRY_SEED = Wording(
    "Other initial weights: do the same heads do the same work?",
    "초깃값을 바꾸면 같은 헤드가 같은 일을 합니까?",
)
ORIGIN_HEADS = Wording("several heads, and the three uses of attention", "여러 헤드와 어텐션의 세 가지 쓰임")
ORIGIN_OFF = Wording("what is lost when heads are switched off", "헤드를 끄면 잃는 것")
ORIGIN_ROLES = Wording("what heads look at", "헤드가 보는 것")
