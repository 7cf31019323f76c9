"""What every lesson says."""

from seq2see.learn.wording import Wording

QUESTION = Wording("Question", "질문")
ANSWER = Wording("Answer", "답")
TRY = Wording("Try it", "바꿔 보기")
ORIGIN = Wording("Where it comes from", "출처")
NEXT = Wording("What to read next", "다음에 볼 것")
GO_ON = Wording("[Enter] goes on", "[Enter]를 누르면 계속합니다")
LESSONS = Wording("Lessons that compute", "직접 계산하는 강의")
HOW_TO_ASK = Wording(
    "One of them:  seq2see learn NAME   (--ko for Korean; -o lesson.html or lesson.ipynb; --quick; --set name=value)",
    "보려면:  seq2see learn 이름 --ko   (-o lesson.html 또는 lesson.ipynb, --quick, --set 이름=값)",
)
TRAINS = Wording(
    "* trains small models the first time, up to two minutes; they are kept",
    "* 처음에는 작은 모델을 학습하며(최대 2분), 결과를 저장해 둡니다",
)
SOUNDS = Wording(
    "({count} recordings to be heard on the page: -o lesson.html)",
    "(녹음 {count}개는 -o lesson.html로 만든 페이지에서 들을 수 있습니다)",
)
COMMAND = Wording("the command of this page", "이 페이지를 만든 명령")
COMPUTED = Wording("The code that computes it: {place}", "이것을 계산하는 코드: {place}")
TRY_CELL = Wording("Change a number above, and run the cell again.", "위의 숫자를 바꾸고 셀을 다시 실행해 보십시오.")
QUICK = Wording(
    "Made with --quick: models of a few updates, whose numbers show the page and teach nothing. Leave it out.",
    "--quick로 만든 페이지입니다. 몇 번만 갱신한 모델이므로 숫자는 모양만 보여 줄 뿐 아무것도 가르쳐 주지 않습니다. "
    "제대로 보려면 --quick을 빼십시오.",
)
