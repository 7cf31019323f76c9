"""Names of people with their Hangul: `Hangul Latin`, by gender, so that English can say he or she."""

MALE = """
민수 Minsu, 지훈 Jihoon, 준호 Junho, 성민 Seongmin, 현우 Hyeonwoo, 도윤 Doyun, 영수 Yeongsu, 철수 Cheolsu
동현 Donghyeon, 승현 Seunghyeon, 재민 Jaemin, 태민 Taemin, 우진 Woojin, 진우 Jinwoo, 상현 Sanghyeon, 경수 Gyeongsu
시우 Siwoo, 하준 Hajun, 은우 Eunwoo, 건우 Geonwoo, 민재 Minjae, 준서 Junseo, 태현 Taehyeon, 성호 Seongho
정훈 Jeonghun, 기현 Gihyeon, 병철 Byeongcheol, 톰 Tom, 존 John, 피터 Peter, 마이클 Michael, 데이비드 David
제임스 James, 폴 Paul, 로버트 Robert, 벤 Ben, 마크 Mark, 다니엘 Daniel, 헨리 Henry, 조지 George, 에릭 Eric
브라이언 Brian, 토마스 Thomas, 루카스 Lucas, 케빈 Kevin, 스티브 Steve, 알렉스 Alex, 앤드류 Andrew, 프랭크 Frank
오스카 Oscar, 카를로스 Carlos, 올리버 Oliver, 찰스 Charles, 필립 Philip, 닉 Nick
"""
FEMALE = """
영희 Yeonghui, 서연 Seoyeon, 지우 Jiwoo, 수진 Sujin, 민지 Minji, 하윤 Hayun, 은지 Eunji, 유진 Yujin, 지은 Jieun
수민 Sumin, 예린 Yerin, 소영 Soyeong, 미영 Miyeong, 혜진 Hyejin, 다은 Daeun, 채원 Chaewon, 나연 Nayeon, 보라 Bora
가영 Gayeong, 선희 Seonhui, 윤아 Yuna, 서윤 Seoyun, 하은 Haeun, 정은 Jeongeun, 미경 Migyeong, 연주 Yeonju
세영 Seyeong, 경희 Gyeonghui, 메리 Mary, 앨리스 Alice, 제인 Jane, 엠마 Emma, 소피아 Sophia, 루시 Lucy, 사라 Sarah
안나 Anna, 케이트 Kate, 리사 Lisa, 줄리아 Julia, 에밀리 Emily, 그레이스 Grace, 헬렌 Helen, 로라 Laura
올리비아 Olivia, 클레어 Claire, 마리아 Maria, 낸시 Nancy, 신디 Cindy, 캐서린 Catherine, 에바 Eva, 니나 Nina
로즈 Rose, 수잔 Susan, 레이첼 Rachel, 다이애나 Diana, 엘렌 Ellen
"""
