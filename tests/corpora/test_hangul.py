"""Korean morphology against forms written by hand."""

import pytest

from seq2see.corpora.phrases.hangul import (
    adnominal,
    attach,
    conjugate,
    copula,
    final_consonant,
    honorific,
    indirect_interrogative,
    join,
    past,
    plain,
    quoted,
    split,
    stem,
)

# word: 아요 · 았습니다 · 습니다 · 으면 · 는/은 · 은 (past) · 을 · 으세요 · plain
VERBS = """
먹다    먹어요   먹었습니다   먹습니다   먹으면   먹는   먹은   먹을   먹으세요   먹는다
입다    입어요   입었습니다   입습니다   입으면   입는   입은   입을   입으세요   입는다
가다    가요     갔습니다     갑니다     가면     가는   간     갈     가세요     간다
서다    서요     섰습니다     섭니다     서면     서는   선     설     서세요     선다
오다    와요     왔습니다     옵니다     오면     오는   온     올     오세요     온다
보다    봐요     봤습니다     봅니다     보면     보는   본     볼     보세요     본다
주다    줘요     줬습니다     줍니다     주면     주는   준     줄     주세요     준다
배우다  배워요   배웠습니다   배웁니다   배우면   배우는 배운   배울   배우세요   배운다
마시다  마셔요   마셨습니다   마십니다   마시면   마시는 마신   마실   마시세요   마신다
기다리다 기다려요 기다렸습니다 기다립니다 기다리면 기다리는 기다린 기다릴 기다리세요 기다린다
보내다  보내요   보냈습니다   보냅니다   보내면   보내는 보낸   보낼   보내세요   보낸다
세다    세요     셌습니다     셉니다     세면     세는   센     셀     세세요     센다
켜다    켜요     켰습니다     켭니다     켜면     켜는   켠     켤     켜세요     켠다
되다    돼요     됐습니다     됩니다     되면     되는   된     될     되세요     된다
쉬다    쉬어요   쉬었습니다   쉽니다     쉬면     쉬는   쉰     쉴     쉬세요     쉰다
하다    해요     했습니다     합니다     하면     하는   한     할     하세요     한다
공부하다 공부해요 공부했습니다 공부합니다 공부하면 공부하는 공부한 공부할 공부하세요 공부한다
쓰다    써요     썼습니다     씁니다     쓰면     쓰는   쓴     쓸     쓰세요     쓴다
끄다    꺼요     껐습니다     끕니다     끄면     끄는   끈     끌     끄세요     끈다
모으다  모아요   모았습니다   모읍니다   모으면   모으는 모은   모을   모으세요   모은다
잠그다  잠가요   잠갔습니다   잠급니다   잠그면   잠그는 잠근   잠글   잠그세요   잠근다
살다    살아요   살았습니다   삽니다     살면     사는   산     살     사세요     산다
만들다  만들어요 만들었습니다 만듭니다   만들면   만드는 만든   만들   만드세요   만든다
열다    열어요   열었습니다   엽니다     열면     여는   연     열     여세요     연다
듣다:ㄷ 들어요   들었습니다   듣습니다   들으면   듣는   들은   들을   들으세요   듣는다
걷다:ㄷ 걸어요   걸었습니다   걷습니다   걸으면   걷는   걸은   걸을   걸으세요   걷는다
깨닫다:ㄷ 깨달아요 깨달았습니다 깨닫습니다 깨달으면 깨닫는 깨달은 깨달을 깨달으세요 깨닫는다
닫다    닫아요   닫았습니다   닫습니다   닫으면   닫는   닫은   닫을   닫으세요   닫는다
짓다:ㅅ 지어요   지었습니다   짓습니다   지으면   짓는   지은   지을   지으세요   짓는다
젓다:ㅅ 저어요   저었습니다   젓습니다   저으면   젓는   저은   저을   저으세요   젓는다
낫다:ㅅ 나아요   나았습니다   낫습니다   나으면   낫는   나은   나을   나으세요   낫는다
벗다    벗어요   벗었습니다   벗습니다   벗으면   벗는   벗은   벗을   벗으세요   벗는다
돕다:ㅂ 도와요   도왔습니다   돕습니다   도우면   돕는   도운   도울   도우세요   돕는다
눕다:ㅂ 누워요   누웠습니다   눕습니다   누우면   눕는   누운   누울   누우세요   눕는다
굽다:ㅂ 구워요   구웠습니다   굽습니다   구우면   굽는   구운   구울   구우세요   굽는다
부르다:르 불러요 불렀습니다   부릅니다   부르면   부르는 부른   부를   부르세요   부른다
모르다:르 몰라요 몰랐습니다   모릅니다   모르면   모르는 모른   모를   모르세요   모른다
자르다:르 잘라요 잘랐습니다   자릅니다   자르면   자르는 자른   자를   자르세요   자른다
따르다  따라요   따랐습니다   따릅니다   따르면   따르는 따른   따를   따르세요   따른다
푸다:우 퍼요     펐습니다     풉니다     푸면     푸는   푼     풀     푸세요     푼다
"""

# word: 아요 · 았습니다 · 습니다 · 으면 · before a noun · 아서 · quoted
ADJECTIVES = """
춥다:ㅂ   추워요   추웠습니다   춥습니다   추우면   추운   추워서   춥다고
곱다:ㅂ   고와요   고왔습니다   곱습니다   고우면   고운   고와서   곱다고
아름답다:ㅂ 아름다워요 아름다웠습니다 아름답습니다 아름다우면 아름다운 아름다워서 아름답다고
좁다      좁아요   좁았습니다   좁습니다   좁으면   좁은   좁아서   좁다고
빨갛다:ㅎ 빨개요   빨갰습니다   빨갛습니다 빨가면   빨간   빨개서   빨갛다고
하얗다:ㅎ 하얘요   하얬습니다   하얗습니다 하야면   하얀   하얘서   하얗다고
누렇다:ㅎ 누레요   누렜습니다   누렇습니다 누러면   누런   누레서   누렇다고
어떻다:ㅎ 어때요   어땠습니다   어떻습니다 어떠면   어떤   어때서   어떻다고
좋다      좋아요   좋았습니다   좋습니다   좋으면   좋은   좋아서   좋다고
아프다    아파요   아팠습니다   아픕니다   아프면   아픈   아파서   아프다고
예쁘다    예뻐요   예뻤습니다   예쁩니다   예쁘면   예쁜   예뻐서   예쁘다고
크다      커요     컸습니다     큽니다     크면     큰     커서     크다고
바쁘다    바빠요   바빴습니다   바쁩니다   바쁘면   바쁜   바빠서   바쁘다고
길다      길어요   길었습니다   깁니다     길면     긴     길어서   길다고
빠르다:르 빨라요   빨랐습니다   빠릅니다   빠르면   빠른   빨라서   빠르다고
푸르다:러 푸르러요 푸르렀습니다 푸릅니다   푸르면   푸른   푸르러서 푸르다고
얇다      얇아요   얇았습니다   얇습니다   얇으면   얇은   얇아서   얇다고
피곤하다  피곤해요 피곤했습니다 피곤합니다 피곤하면 피곤한 피곤해서 피곤하다고
"""


def rows(table: str) -> list[list[str]]:
    return [line.split() for line in table.strip().splitlines()]


def test_the_tables_hold_enough_forms() -> None:
    assert sum(len(row) - 1 for row in rows(VERBS) + rows(ADJECTIVES)) >= 150


@pytest.mark.parametrize("row", rows(VERBS), ids=lambda row: row[0])
def test_verbs_conjugate(row: list[str]) -> None:
    word = stem(row[0])
    assert [
        conjugate(word, "아요"),
        conjugate(past(word), "습니다"),
        conjugate(word, "습니다"),
        conjugate(word, "으면"),
        adnominal(word, "present"),
        adnominal(word, "past"),
        adnominal(word, "future"),
        conjugate(honorific(word), "아요"),
        plain(word),
    ] == row[1:]


@pytest.mark.parametrize("row", rows(ADJECTIVES), ids=lambda row: row[0])
def test_adjectives_conjugate(row: list[str]) -> None:
    word = stem(row[0], "adjective")
    assert [
        conjugate(word, "아요"),
        conjugate(past(word), "습니다"),
        conjugate(word, "습니다"),
        conjugate(word, "으면"),
        adnominal(word, "present"),
        conjugate(word, "아서"),
        quoted(word),
    ] == row[1:]


@pytest.mark.parametrize(
    ("noun", "forms"),
    [
        ("학생", "학생이에요 학생이었어요 학생입니다 학생이다 학생인 학생이라고 학생이라서 학생이고 학생인지"),
        ("의사", "의사예요 의사였어요 의사입니다 의사다 의사인 의사라고 의사라서 의사이고 의사인지"),
    ],
)
def test_the_copula(noun: str, forms: str) -> None:
    be = copula(noun)
    assert [
        conjugate(be, "아요"),
        conjugate(past(be), "아요"),
        conjugate(be, "습니다"),
        plain(be),
        adnominal(be, "present"),
        quoted(be),
        conjugate(be, "아서"),
        conjugate(be, "고"),
        indirect_interrogative(be),
    ] == forms.split()


# word ending form
OTHERS = """
가다 고 가고,          살다 고 살고,           살다 으니까 사니까,      살다 으면서 살면서
듣다:ㄷ 으려고 들으려고, 듣다:ㄷ 기 듣기,        춥다:ㅂ 으니까 추우니까,  춥다:ㅂ 지만 춥지만
가다 으려고 가려고,     먹다 으러 먹으러,       만들다 으러 만들러,      만들다 읍시다 만듭시다
먹다 읍시다 먹읍시다,   가다 읍시다 갑시다,      하다 아야 해야,          쓰다 아야 써야
부르다:르 아라 불러라,  가다 아라 가라,         살다 니 사니,            먹다 겠습니다 먹겠습니다
읽다 던 읽던,          짓다:ㅅ 으니까 지으니까,  가다 을지 갈지,          먹다 을지 먹을지
"""


@pytest.mark.parametrize("row", [row.split() for row in OTHERS.replace(",", "\n").strip().splitlines()], ids=str)
def test_other_endings(row: list[str]) -> None:
    word, ending, form = row
    assert conjugate(stem(word), ending) == form


def test_stems_chain() -> None:
    go, exist = stem("가다"), stem("있다", "existence")
    assert conjugate(past(honorific(go)), "아요") == "가셨어요"
    assert conjugate(honorific(go), "읍시오") == "가십시오"
    assert quoted(past(go)) == "갔다고"
    assert quoted(go) == "간다고"
    assert quoted(exist) == "있다고"
    assert adnominal(exist, "present") == "있는"
    assert indirect_interrogative(past(go)) == "갔는지"
    assert indirect_interrogative(stem("춥다:ㅂ", "adjective")) == "추운지"
    assert indirect_interrogative(stem("살다")) == "사는지"


@pytest.mark.parametrize(
    ("particle", "expected"),
    [
        ("은", "책은 사과는 길은"),
        ("이", "책이 사과가 길이"),
        ("을", "책을 사과를 길을"),
        ("과", "책과 사과와 길과"),
        ("으로", "책으로 사과로 길로"),
        ("이나", "책이나 사과나 길이나"),
        ("에게", "책에게 사과에게 길에게"),
        ("까지", "책까지 사과까지 길까지"),
    ],
)
def test_particles_follow_the_final_consonant(particle: str, expected: str) -> None:
    assert [attach(noun, particle) for noun in ("책", "사과", "길")] == expected.split()


READ = [*("0은", "1은", "2는", "3은", "4는"), *("5는", "6은", "7은", "8은", "9는")]


def test_digits_take_the_particle_of_their_reading() -> None:
    assert [attach(digit, "은") for digit in "0123456789"] == READ


def test_syllables_come_apart_and_together() -> None:
    assert split("한") == ("ㅎ", "ㅏ", "ㄴ")
    assert all(join(*split(chr(code))) == chr(code) for code in range(0xAC00, 0xAC00 + 11172))
    assert final_consonant("값") == "ㅄ"
    assert final_consonant("나") == " "
    with pytest.raises(ValueError, match="not a Hangul syllable"):
        split("a")


def test_an_unknown_irregular_class_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown irregular class"):
        stem("춥다:ㅋ")
