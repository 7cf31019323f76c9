"""The words of the lesson *heads*."""

from seq2see.learn.wording import Wording

TITLE = Wording("Three kinds of attention, many heads", "세 가지 어텐션과 여러 헤드")
SUMMARY = Wording(
    "self-, masked and cross-attention; what each head does, in numbers; a word with two meanings",
    "셀프, 마스크, 교차 어텐션과 헤드마다 하는 일, 그리고 뜻이 둘인 단어",
)
QUESTION = Wording(
    "A Transformer has attention in three places, and several heads in each. Do the heads really differ, and what "
    "would be missing without them?",
    "트랜스포머(Transformer)에는 어텐션(attention)이 세 곳에 있고, 곳마다 헤드(head)가 여럿입니다. 헤드들은 정말 "
    "서로 다르며, 없으면 무엇을 잃습니까?",
)

ENCODER = Wording("encoder", "인코더")
DECODER = Wording("decoder", "디코더")
CROSS = Wording("cross", "교차")
KINDS_TITLE = Wording("Three places to look from", "세 곳에서 봅니다")
KINDS = Wording(
    "A Transformer of two layers with four heads has learned short sentences, Korean to English. It translates "
    "`{source}` as `{target}`. What the mean of all its heads looked at: in the encoder every word sees every "
    "word; in the decoder only what was said before (masked); across, the words being said look at the source:",
    "층이 둘이고 헤드가 넷인 트랜스포머가 짧은 문장을 한국어에서 영어로 배웠습니다. `{source}`를 `{target}`로 "
    "옮깁니다. 모든 헤드의 평균이 본 곳은 다음과 같습니다. 인코더(encoder)에서는 모든 단어가 모든 단어를 보고, "
    "디코더(decoder)에서는 먼저 말한 것만 보고(마스크), 교차 어텐션(cross-attention)에서는 말하는 단어가 원문을 "
    "봅니다.",
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
    "looks, how much rests on marks such as </s>, and how much worse a word is predicted when this one head is "
    "switched off (nats):",
    "본 적 없는 문장 {count}개에서 재었습니다. 행이 얼마나 퍼져 있는지(엔트로피(entropy), 0이면 한 단어만 봄), "
    "얼마나 멀리 보는지, </s> 같은 표지에 얼마나 머무는지, 그리고 이 헤드 하나만 껐을 때 단어 예측이 얼마나 "
    "나빠지는지(나트)입니다.",
)
COLUMN_KIND = Wording("kind", "종류")
COLUMN_HEAD = Wording("layer.head", "층.헤드")
COLUMN_ENTROPY = Wording("entropy", "엔트로피")
COLUMN_DISTANCE = Wording("distance", "거리")
COLUMN_MARKS = Wording("on marks", "표지")
COLUMN_LOST = Wording("lost if off", "끄면 잃는 것")
TABLE_READ = Wording(
    "Entropies lie between {low:.2f} and {high:.2f}: heads do differ. Most is lost without {most} "
    "({most_lost:+.3f}), least without {least} ({least_lost:+.3f}).",
    "엔트로피가 {low:.2f}에서 {high:.2f}까지 있으므로 헤드들은 서로 다릅니다. {most}를 끄면 가장 많이 "
    "잃고({most_lost:+.3f}), {least}를 끄면 가장 적게 잃습니다({least_lost:+.3f}).",
)

MEANINGS_TITLE = Wording("One word, two meanings", "한 단어, 두 가지 뜻")
MEANINGS = Wording(
    "`{word}` is {one} or {other}, depending on the verb. Its word vector is the same in both sentences. How alike "
    "are the two vectors (cosine) as the blocks of the encoder let it look at its neighbours?",
    "`{word}`의 뜻은 동사에 따라 {one} 또는 {other}입니다. 단어 벡터는 두 문장에서 같습니다. 인코더의 블록이 "
    "이웃을 보게 해 주면 두 벡터의 코사인(cosine)은 얼마입니까?",
)
COLUMN_BEHIND = Wording("behind", "지난 곳")
COLUMN_ALIKE = Wording("alike", "닮음")
WORD_VECTOR = Wording("word vector", "단어 벡터")
BLOCK_NUMBER = Wording("block {number}", "{number}번 블록")
MEANINGS_READ = Wording(
    "From {first:.3f} to {last:.3f}: attention has written the verb into the noun. And if every head of the "
    "encoder's self-attention is switched off, so that no word sees another?",
    "{first:.3f}에서 {last:.3f}로 달라졌습니다. 어텐션이 동사를 명사에 적어 넣은 것입니다. 그러면 인코더의 셀프 "
    "어텐션(self-attention) 헤드를 모두 꺼서 단어끼리 서로 못 보게 하면 어떻게 됩니까?",
)
COLUMN_SENTENCE = Wording("sentence", "문장")
COLUMN_TOLD = Wording("translation", "번역")
COLUMN_BLIND = Wording("without encoder attention", "인코더 어텐션 없이")
BLIND_READ = Wording(
    "Whatever is still right then, the decoder has put together itself: it looks at the verb as well, and has just "
    "said it. What the encoder writes into a word is a help, not the only way.",
    "그래도 맞는 것이 있다면 디코더가 스스로 짜 맞춘 것입니다. 디코더도 동사를 보고, 방금 그 동사를 말했기 "
    "때문입니다. 인코더가 단어에 적어 넣는 것은 도움이지 하나뿐인 길은 아닙니다.",
)

ANSWER = Wording(
    "They differ: entropies from {low:.2f} to {high:.2f}, and switching one off costs between {least_lost:+.3f} "
    "and {most_lost:+.3f} nats a word. Together they make {word} mean two things: its vectors in two sentences are "
    "{first:.2f} alike at first and {last:.2f} in the end.",
    "서로 다릅니다. 엔트로피가 {low:.2f}에서 {high:.2f}까지이고, 하나를 끄면 단어마다 {least_lost:+.3f}에서 "
    "{most_lost:+.3f}나트를 잃습니다. 헤드들이 함께 {word}의 두 뜻을 가릅니다. 두 문장에서 이 단어의 벡터는 처음에 "
    "{first:.2f}, 끝에 {last:.2f}만큼 닮았습니다.",
)
TRY_WORD = Wording("Another word with two meanings:", "뜻이 둘인 다른 단어입니다.")
TRY_SEED = Wording(
    "Other first numbers: do the same heads do the same work?",
    "처음 숫자를 바꾸면 같은 헤드가 같은 일을 합니까?",
)
ORIGIN_HEADS = Wording("several heads, and the three uses of attention", "여러 헤드와 어텐션의 세 가지 쓰임")
ORIGIN_OFF = Wording("what is lost when heads are switched off", "헤드를 끄면 잃는 것")
ORIGIN_ROLES = Wording("what heads look at", "헤드가 보는 것")
