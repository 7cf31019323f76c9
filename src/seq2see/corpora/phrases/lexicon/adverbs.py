"""Adverbs: time (with the tenses they allow), frequency, manner by group, degree; directions, months, weekdays."""

# Korean | English; the time of a past event
PAST_TIME = """어제 yesterday, 그저께 the day before yesterday, 지난주에 last week, 지난달에 last month
작년에 last year
아까 a little while ago, 어젯밤에 last night, 어제 아침에 yesterday morning, 어제 저녁에 yesterday evening
지난 토요일에 last Saturday, 지난 일요일에 last Sunday, 지난 금요일에 last Friday, 지난 월요일에 last Monday
지난여름에 last summer, 지난겨울에 last winter, 지난봄에 last spring, 지난가을에 last fall, 며칠 전에 a few days ago
오래전에 a long time ago, 일주일 전에 a week ago, 한 달 전에 a month ago, 일 년 전에 a year ago
이틀 전에 two days ago, 사흘 전에 three days ago, 조금 전에 a moment ago, 그날 that day, 그날 밤에 that night"""

FUTURE_TIME = """내일 tomorrow, 모레 the day after tomorrow, 다음 주에 next week, 다음 달에 next month
내년에 next year
내일 아침에 tomorrow morning, 내일 저녁에 tomorrow evening, 다음 토요일에 next Saturday, 다음 일요일에 next Sunday
다음 금요일에 next Friday, 다음 월요일에 next Monday, 곧 soon, 나중에 later, 언젠가 someday
내일 밤에 tomorrow night, 내년 봄에 next spring, 내년 여름에 next summer, 이번 주말에 this weekend
오늘 밤에 tonight, 오늘 저녁에 this evening"""

HABIT_TIME = """매일 every day, 아침마다 every morning, 저녁마다 every evening, 주말마다 every weekend
일요일마다 every Sunday
토요일마다 every Saturday, 매주 every week, 매달 every month, 밤마다 every night, 여름마다 every summer
겨울마다 every winter, 요즘 these days, 월요일마다 every Monday, 금요일마다 every Friday, 매년 every year
수요일마다 every Wednesday, 하루에 한 번 once a day, 일주일에 두 번 twice a week, 한 달에 한 번 once a month
이틀마다 every two days"""

NOW_TIME = """지금 now, 지금 이 순간 at this moment"""

# Any tense but the progressive
PARTS_OF_DAY = """아침에 in the morning, 오후에 in the afternoon, 저녁에 in the evening, 밤에 at night
주말에 on the weekend
봄에 in spring, 여름에 in summer, 가을에 in the fall, 겨울에 in winter, 월요일에 on Monday, 화요일에 on Tuesday
수요일에 on Wednesday, 목요일에 on Thursday, 금요일에 on Friday, 토요일에 on Saturday, 일요일에 on Sunday
새벽에 at dawn, 정오에 at noon, 자정에 at midnight, 점심시간에 during lunchtime, 휴가 때 during the holidays"""

FREQUENCY = """항상 always, 자주 often, 가끔 sometimes, 보통 usually, 거의 항상 almost always, 드물게 rarely"""

# group letter: Korean English
MANNER = {
    "m": "빨리 quickly, 천천히 slowly, 급하게 hastily, 서둘러 in a hurry",
    "d": "열심히 hard, 꾸준히 steadily, 성실하게 diligently",
    "h": "꾸준히 steadily, 성실하게 diligently",
    "l": "잘 well",
    "q": "조용히 quietly, 혼자서 alone",
    "x": "몰래 secretly",
    "c": "조심스럽게 carefully",
    "t": "꼼꼼하게 thoroughly",
    "b": "크게 loudly",
    "j": "신나게 cheerfully",
    "s": "친절하게 kindly, 정중하게 politely",
    "f": "솔직하게 honestly, 분명하게 clearly",
    "e": "아주 많이 very much, 진심으로 sincerely",
}

DEGREE = "아주 very, 정말 really, 꽤 quite, 조금 a little"

MONTHS = """일월 January, 이월 February, 삼월 March, 사월 April, 오월 May, 유월 June, 칠월 July, 팔월 August
구월 September
시월 October, 십일월 November, 십이월 December"""

POSITIONS = """위에 on, 밑에 under, 옆에 next to, 앞에 in front of, 뒤에 behind, 안에 inside"""

NATIVE_NUMERALS = """한 one, 두 two, 세 three, 네 four, 다섯 five, 여섯 six, 일곱 seven, 여덟 eight, 아홉 nine
열 ten, 열한 eleven
열두 twelve, 열다섯 fifteen, 스무 twenty"""

ORDINALS = """일 first, 이 second, 삼 third, 사 fourth, 오 fifth, 육 sixth, 칠 seventh, 팔 eighth, 구 ninth, 십 tenth"""
