"""Nouns by semantic class: what a verb or an adjective may ask for.

Each block opens with `@class counter`. The counter is the Korean measure word of the class (`개` when a thing has
no better one, `-` for what is not counted); after a colon stands the English measure word where English needs one
too (`잔:cup`: 커피 두 잔, two cups of coffee). Entries are `Korean English`; a mark before the English says which
article the bare noun takes:

    (none)  a countable noun: 사과, an apple        !  definite by itself: 도서관, the library
    ~       a mass noun: 물, water                  ^  no article: 서울, Seoul
    =       always plural: 신발, shoes

Every Korean word has one English word and the other way round, so that neither side is ambiguous.
"""

NOUNS = """
@role 명
학생 student, 의사 doctor, 간호사 nurse, 변호사 lawyer, 경찰관 police officer, 소방관 firefighter, 요리사 cook
기자 reporter, 가수 singer, 배우 actor, 화가 painter, 작가 writer, 시인 poet, 음악가 musician, 운전사 driver
농부 farmer, 어부 fisherman, 군인 soldier, 비서 secretary, 번역가 translator, 과학자 scientist, 기술자 engineer
건축가 architect, 약사 pharmacist, 은행원 bank clerk, 판사 judge, 정치인 politician, 사업가 businessman
미용사 hairdresser, 점원 salesperson, 웨이터 waiter, 조종사 pilot, 승무원 flight attendant, 선원 sailor
목수 carpenter, 정비사 mechanic, 청소부 cleaner, 우체부 mail carrier, 사서 librarian, 대학생 university student
고등학생 high school student, 유학생 international student, 신입생 freshman, 무용가 dancer, 사진작가 photographer
감독 director, 선수 athlete, 축구 선수 soccer player, 야구 선수 baseball player, 코치 coach, 심판 referee
통역사 interpreter, 연구원 researcher, 회계사 accountant, 수의사 veterinarian, 역사가 historian, 철학자 philosopher
수학자 mathematician, 관광객 tourist, 여행자 traveler, 손님 customer, 환자 patient, 이웃 neighbor, 친구 friend
동료 colleague, 룸메이트 roommate, 외국인 foreigner, 남자 man, 여자 woman, 소년 boy, 소녀 girl, 아이 child
청년 young man, 아가씨 young lady, 신사 gentleman, 도둑 thief, 형사 detective, 왕자 prince, 공주 princess, 왕 king
여왕 queen, 영웅 hero, 마술사 magician, 광대 clown, 발레리나 ballerina, 피아니스트 pianist, 디자이너 designer
프로그래머 programmer, 모델 model, 아나운서 announcer, 안내원 guide, 경비원 security guard, 재단사 tailor
제빵사 baker, 정원사 gardener, 치과 의사 dentist, 천문학자 astronomer, 화학자 chemist, 탐험가 explorer
발명가 inventor, 우주 비행사 astronaut, 대통령 president, 대사 ambassador, 편집자 editor
@animal 마리
개 dog, 고양이 cat, 토끼 rabbit, 새 bird, 말 horse, 소 cow, 돼지 pig, 닭 hen, 오리 duck, 양 sheep, 염소 goat
원숭이 monkey, 곰 bear, 호랑이 tiger, 사자 lion, 코끼리 elephant, 여우 fox, 늑대 wolf, 사슴 deer, 다람쥐 squirrel
쥐 mouse, 거북이 turtle, 개구리 frog, 뱀 snake, 앵무새 parrot, 부엉이 owl, 독수리 eagle, 비둘기 pigeon, 참새 sparrow
까마귀 crow, 거위 goose, 펭귄 penguin, 햄스터 hamster, 고슴도치 hedgehog, 당나귀 donkey, 낙타 camel, 기린 giraffe
얼룩말 zebra, 캥거루 kangaroo, 판다 panda, 강아지 puppy, 새끼 고양이 kitten, 송아지 calf, 병아리 chick
너구리 raccoon, 두루미 crane, 공작새 peacock, 수달 otter
@seacreature 마리
고래 whale, 상어 shark, 돌고래 dolphin, 문어 octopus, 금붕어 goldfish, 물개 seal, 해파리 jellyfish
@insect 마리
나비 butterfly, 벌 bee, 개미 ant, 거미 spider, 모기 mosquito, 잠자리 dragonfly, 매미 cicada
@fruit 개
사과 apple, 배 pear, 오렌지 orange, 바나나 banana, 복숭아 peach, 레몬 lemon, 수박 watermelon, 귤 tangerine
감 persimmon, 자두 plum, 망고 mango, 멜론 melon, 키위 kiwi, 참외 Korean melon, 파인애플 pineapple, 아보카도 avocado
자몽 grapefruit, 무화과 fig, 살구 apricot
@vegetable 개
감자 potato, 고구마 sweet potato, 당근 carrot, 양파 onion, 오이 cucumber, 토마토 tomato, 호박 pumpkin, 가지 eggplant
무 radish, 고추 chili pepper, 옥수수 ~corn, 버섯 mushroom, 배추 ~napa cabbage, 상추 ~lettuce, 시금치 ~spinach
마늘 ~garlic
@snack 개
빵 ~bread, 케이크 cake, 쿠키 cookie, 샌드위치 sandwich, 햄버거 hamburger, 도넛 donut, 만두 dumpling, 떡 rice cake
달걀 egg, 사탕 candy, 초콜릿 ~chocolate, 핫도그 hot dog, 크루아상 croissant, 와플 waffle, 팬케이크 pancake
머핀 muffin, 김밥 ~gimbap, 초밥 ~sushi, 아이스크림 ~ice cream, 푸딩 pudding, 파이 pie, 군고구마 baked sweet potato
@slice 조각:slice
피자 ~pizza, 치즈 ~cheese, 두부 ~tofu, 햄 ~ham, 베이컨 ~bacon
@dish 그릇:bowl
밥 ~rice, 국 ~soup, 라면 ~ramen, 국수 =noodles, 비빔밥 ~bibimbap, 냉면 =cold noodles, 삼계탕 ~ginseng chicken soup
샐러드 ~salad, 죽 ~porridge, 떡국 ~rice cake soup, 된장찌개 ~soybean paste stew, 김치찌개 ~kimchi stew, 카레 ~curry
볶음밥 ~fried rice, 칼국수 ~noodle soup, 미역국 ~seaweed soup, 우동 ~udon, 시리얼 ~cereal, 오트밀 ~oatmeal
@meat -
고기 ~meat, 소고기 ~beef, 돼지고기 ~pork, 닭고기 ~chicken, 불고기 ~bulgogi, 생선 ~fish, 스테이크 steak, 갈비 ~galbi
김치 ~kimchi, 떡볶이 ~tteokbokki, 잡채 ~japchae, 소시지 sausage, 스파게티 ~spaghetti, 오믈렛 omelet, 연어 ~salmon
새우 ~shrimp, 오징어 ~squid
@drink 잔:cup
물 ~water, 커피 ~coffee, 녹차 ~green tea, 홍차 ~black tea, 코코아 ~cocoa, 보리차 ~barley tea, 인삼차 ~ginseng tea
@cold_drink 병:bottle
우유 ~milk, 주스 ~juice, 맥주 ~beer, 콜라 ~cola, 포도주 ~wine, 막걸리 ~rice wine, 사이다 ~lemon soda
레모네이드 ~lemonade, 두유 ~soy milk, 식혜 ~sweet rice drink, 위스키 ~whiskey
@seasoning -
소금 ~salt, 설탕 ~sugar, 후추 ~black pepper, 간장 ~soy sauce, 식초 ~vinegar, 꿀 ~honey, 버터 ~butter
참기름 ~sesame oil, 고추장 ~red pepper paste, 잼 ~jam, 마요네즈 ~mayonnaise, 밀가루 ~flour
@book 권
책 book, 소설 novel, 잡지 magazine, 사전 dictionary, 만화책 comic book, 교과서 textbook, 동화책 storybook
시집 poetry book, 요리책 cookbook, 공책 notebook, 일기장 diary, 자서전 autobiography, 백과사전 encyclopedia
여행 안내서 travel guide, 설명서 manual, 문법책 grammar book, 추리 소설 mystery novel, 보고서 report
그림책 picture book
@letter 통
편지 letter, 이메일 email, 문자 메시지 text message, 감사장 thank-you note, 답장 reply
@paper 장
사진 photo, 표 ticket, 엽서 postcard, 우표 stamp, 지도 map, 초대장 invitation, 포스터 poster, 청구서 bill
명함 business card, 영수증 receipt, 계약서 contract, 생일 카드 birthday card, 신청서 application form
@sheet 장
수건 towel, 담요 blanket, 카펫 carpet, 손수건 handkerchief, 돗자리 picnic mat
@picture 점
그림 picture, 초상화 portrait, 풍경화 landscape painting, 만화 comic strip, 수채화 watercolor
@periodical 부
신문 newspaper, 주간지 weekly magazine, 학교 신문 school newspaper
@song 곡
노래 song, 민요 folk song, 자장가 lullaby, 행진곡 march, 왈츠 waltz
@film 편
영화 movie, 드라마 TV drama, 연극 play, 뮤지컬 musical, 다큐멘터리 documentary, 만화 영화 cartoon, 광고 commercial
공포 영화 horror movie, 코미디 comedy
@poem 편
시 poem, 수필 essay, 논문 thesis, 기사 news article, 동화 fairy tale
@vehicle 대
자동차 car, 버스 bus, 택시 taxi, 자전거 bicycle, 오토바이 motorcycle, 트럭 truck, 기차 train, 비행기 airplane
헬리콥터 helicopter, 구급차 ambulance, 소방차 fire truck, 마차 carriage, 스쿠터 scooter, 트랙터 tractor
@metro -
지하철 !subway
@boat 척
여객선 ferry, 요트 yacht, 보트 boat, 카누 canoe, 잠수함 submarine, 유람선 cruise ship
@machine 대
컴퓨터 computer, 노트북 laptop, 텔레비전 television, 라디오 radio, 카메라 camera, 냉장고 refrigerator
세탁기 washing machine, 에어컨 air conditioner, 선풍기 electric fan, 청소기 vacuum cleaner, 전화기 telephone
휴대폰 cell phone, 프린터 printer, 복사기 copier, 전자레인지 microwave oven, 오븐 oven, 로봇 robot
재봉틀 sewing machine, 난로 heater, 태블릿 tablet, 망원경 telescope, 현미경 microscope, 게임기 game console
@clothes 벌
옷 ~clothing, 치마 skirt, 원피스 dress, 양복 suit, 코트 coat, 재킷 jacket, 한복 hanbok, 스웨터 sweater, 셔츠 shirt
티셔츠 T-shirt, 블라우스 blouse, 교복 school uniform, 잠옷 =pajamas, 비옷 raincoat, 조끼 vest, 바지 =pants
청바지 =jeans, 반바지 =shorts, 수영복 swimsuit, 기모노 kimono, 앞치마 apron, 운동복 tracksuit, 패딩 padded jacket
카디건 cardigan
@shoes 켤레:pair
신발 =shoes, 구두 =dress shoes, 운동화 =sneakers, 양말 =socks, 부츠 =boots, 샌들 =sandals, 슬리퍼 =slippers
장화 =rain boots, 등산화 =hiking boots, 하이힐 =high heels
@hat 개
모자 hat, 헬멧 helmet, 왕관 crown, 야구 모자 baseball cap, 가면 mask
@accessory 개
반지 ring, 목걸이 necklace, 팔찌 bracelet, 손목시계 wristwatch, 목도리 scarf, 넥타이 necktie, 허리띠 belt
귀걸이 =earrings, 장갑 =gloves, 안경 =glasses, 선글라스 =sunglasses, 브로치 brooch, 리본 ribbon
@furniture 개
책상 desk, 의자 chair, 식탁 dining table, 침대 bed, 소파 sofa, 책장 bookcase, 옷장 wardrobe, 서랍 drawer, 선반 shelf
거울 mirror, 화장대 dressing table, 벤치 bench, 탁자 table, 흔들의자 rocking chair, 램프 lamp, 커튼 curtain
액자 picture frame
@opening 개
문 !door, 창문 !window, 대문 !gate, 뚜껑 !lid
@container 개
가방 bag, 상자 box, 바구니 basket, 지갑 wallet, 배낭 backpack, 여행 가방 suitcase, 봉투 envelope, 꽃병 vase
냄비 pot, 프라이팬 frying pan, 컵 cup, 유리잔 drinking glass, 주전자 kettle, 쓰레기통 trash can, 도시락 lunch box
양동이 bucket, 찻잔 teacup
@tool 개
우산 umbrella, 열쇠 key, 가위 =scissors, 망치 hammer, 톱 saw, 삽 shovel, 사다리 ladder, 빗 comb, 비누 bar of soap
칫솔 toothbrush, 베개 pillow, 이불 quilt, 손전등 flashlight, 양초 candle, 라이터 lighter, 빗자루 broom, 숟가락 spoon
포크 fork, 젓가락 =chopsticks, 국자 ladle, 바늘 needle, 밧줄 rope, 텐트 tent, 낚싯대 fishing rod, 자물쇠 lock
건전지 battery, 드라이버 screwdriver, 리모컨 remote control, 충전기 charger, 이어폰 =earphones, 달력 calendar
시계 clock, 부채 hand fan, 다리미 clothes iron, 도마 cutting board, 접시 plate, 나침반 compass, 온도계 thermometer
@pen 자루
연필 pencil, 펜 pen, 만년필 fountain pen, 붓 paintbrush, 색연필 colored pencil, 볼펜 ballpoint pen, 칼 knife
크레용 crayon
@stationery 개
지우개 eraser, 자 ruler, 필통 pencil case, 풀 glue stick, 계산기 calculator, 스테이플러 stapler, 도장 seal stamp
@toy 개
장난감 toy, 인형 doll, 공 ball, 풍선 balloon, 연 kite, 퍼즐 puzzle, 팽이 spinning top, 블록 building block
요요 yo-yo
@gift 개
선물 gift, 소포 package, 꽃다발 bouquet, 상품권 gift card, 향수 ~perfume, 화장품 ~makeup, 기념품 souvenir
메달 medal, 트로피 trophy
@instrument 대
피아노 piano, 기타 guitar, 바이올린 violin, 첼로 cello, 플루트 flute, 드럼 drum, 하프 harp, 가야금 gayageum
트럼펫 trumpet, 클라리넷 clarinet, 하모니카 harmonica, 색소폰 saxophone, 아코디언 accordion, 우쿨렐레 ukulele
@sport -
축구 ~soccer, 야구 ~baseball, 농구 ~basketball, 배구 ~volleyball, 테니스 ~tennis, 탁구 ~table tennis, 골프 ~golf
배드민턴 ~badminton, 하키 ~hockey, 볼링 ~bowling, 체스 ~chess, 바둑 ~Go
@study -
수학 ~math, 역사 ~history, 과학 ~science, 영어 ~English, 한국어 ~Korean, 일본어 ~Japanese, 중국어 ~Chinese
독일어 ~German, 프랑스어 ~French, 스페인어 ~Spanish, 철학 ~philosophy, 음악 ~music, 미술 ~art, 경제학 ~economics
물리학 ~physics, 화학 ~chemistry, 생물학 ~biology, 지리 ~geography, 의학 ~medicine, 법학 ~law, 문학 ~literature
심리학 ~psychology, 건축학 ~architecture, 천문학 ~astronomy, 언어학 ~linguistics, 통계학 ~statistics
태권도 ~taekwondo, 유도 ~judo, 요리 ~cooking, 서예 ~calligraphy, 프로그래밍 ~programming, 러시아어 ~Russian
라틴어 ~Latin, 논리학 ~logic
@flower 송이
꽃 flower, 장미 rose, 튤립 tulip, 해바라기 sunflower, 국화 chrysanthemum, 백합 lily, 카네이션 carnation
무궁화 hibiscus, 코스모스 cosmos flower, 민들레 dandelion, 수선화 daffodil, 난초 orchid
@tree 그루
나무 tree, 소나무 pine tree, 은행나무 ginkgo tree, 단풍나무 maple tree, 벚나무 cherry tree, 사과나무 apple tree
감나무 persimmon tree, 대나무 ~bamboo, 버드나무 willow tree, 참나무 oak tree
@building 채
집 house, 건물 building, 아파트 apartment building, 오두막 cabin, 성 castle, 궁전 palace, 한옥 hanok, 탑 tower
별장 villa, 창고 warehouse, 온실 greenhouse, 다리 bridge, 벽 wall, 울타리 fence
@venue 곳
도서관 !library, 공원 !park, 식당 !restaurant, 카페 !cafe, 사무실 !office, 교실 !classroom, 호텔 !hotel, 체육관 !gym
해변 !beach, 캠핑장 !campground, 기숙사 !dormitory, 학생 식당 !student cafeteria, 놀이터 !playground
운동장 !sports field, 휴게실 !lounge, 광장 !square, 강가 !riverside, 호숫가 !lakeside
@site 곳
은행 !bank, 우체국 !post office, 병원 !hospital, 학교 ^school, 대학교 !university, 박물관 !museum
미술관 !art museum, 극장 !theater, 영화관 !movie theater, 공항 !airport, 경찰서 !police station, 교회 ^church
절 !temple, 동물원 !zoo, 식물원 !botanical garden, 수영장 !swimming pool, 미용실 !hair salon, 약국 !pharmacy
회사 !company, 공장 !factory, 시청 !city hall, 대사관 !embassy, 주차장 !parking lot, 경기장 !stadium
놀이공원 !amusement park, 버스 정류장 !bus stop, 기차역 !train station, 지하철역 !subway station, 항구 !harbor
농장 !farm, 과수원 !orchard, 치과 !dental clinic, 온천 !hot spring, 전시회장 !exhibition hall, 찜질방 !sauna
스키장 !ski resort, 유치원 ^kindergarten, 초등학교 ^elementary school, 중학교 ^middle school, 고등학교 ^high school
법원 !courthouse, 노래방 !karaoke room, 수족관 !aquarium
@shop 곳
가게 !store, 시장 !market, 백화점 !department store, 서점 !bookstore, 빵집 !bakery, 꽃집 !flower shop
슈퍼마켓 !supermarket, 편의점 !convenience store, 문구점 !stationery store, 옷 가게 !clothing store
쇼핑몰 !shopping mall, 벼룩시장 !flea market, 면세점 !duty-free shop, 장난감 가게 !toy store
전자 상가 !electronics market
@room -
방 !room, 거실 !living room, 부엌 !kitchen, 침실 !bedroom, 욕실 !bathroom, 정원 !garden, 마당 !yard
지하실 !basement, 옥상 !rooftop, 베란다 !balcony, 복도 !hallway, 회의실 !meeting room, 실험실 !laboratory
차고 !garage, 서재 !study room
@nature -
산 !mountain, 바다 !sea, 강 !river, 호수 !lake, 숲 !forest, 섬 !island, 들판 !field, 계곡 !valley, 언덕 !hill
사막 !desert, 시골 !countryside, 동굴 !cave, 폭포 !waterfall
@city -
서울 ^Seoul, 부산 ^Busan, 제주도 ^Jeju Island, 경주 ^Gyeongju, 인천 ^Incheon, 대구 ^Daegu, 광주 ^Gwangju
대전 ^Daejeon, 전주 ^Jeonju, 강릉 ^Gangneung, 수원 ^Suwon, 춘천 ^Chuncheon, 런던 ^London, 파리 ^Paris
뉴욕 ^New York, 도쿄 ^Tokyo, 베를린 ^Berlin, 로마 ^Rome, 베이징 ^Beijing, 시드니 ^Sydney, 하노이 ^Hanoi
방콕 ^Bangkok, 모스크바 ^Moscow, 마드리드 ^Madrid, 토론토 ^Toronto, 보스턴 ^Boston, 시카고 ^Chicago, 빈 ^Vienna
프라하 ^Prague, 카이로 ^Cairo, 뮌헨 ^Munich, 오사카 ^Osaka
@town 곳
도시 city, 마을 village, 소도시 small town, 농촌 farming village, 어촌 fishing village, 관광지 tourist spot
@country -
한국 ^Korea, 미국 !United States, 영국 ^England, 독일 ^Germany, 프랑스 ^France, 일본 ^Japan, 중국 ^China
캐나다 ^Canada, 호주 ^Australia, 이탈리아 ^Italy, 스페인 ^Spain, 베트남 ^Vietnam, 태국 ^Thailand, 인도 ^India
브라질 ^Brazil, 이집트 ^Egypt, 멕시코 ^Mexico, 스위스 ^Switzerland, 네덜란드 !Netherlands, 러시아 ^Russia
터키 ^Turkey, 그리스 ^Greece, 뉴질랜드 ^New Zealand, 스웨덴 ^Sweden, 노르웨이 ^Norway, 핀란드 ^Finland
포르투갈 ^Portugal, 몽골 ^Mongolia, 아르헨티나 ^Argentina, 케냐 ^Kenya
@event -
회의 !meeting, 수업 !class, 시험 !exam, 파티 !party, 결혼식 !wedding, 콘서트 !concert, 졸업식 !graduation ceremony
축제 !festival, 경기 !game, 생일 파티 !birthday party, 전시회 !exhibition, 면접 !job interview, 강의 !lecture
행사 !event, 공연 !performance, 방학 !school vacation, 발표회 !recital, 세미나 !seminar, 대회 !contest
선거 !election
@idea 가지
문제 problem, 질문 question, 계획 plan, 꿈 dream, 생각 idea, 비밀 secret, 이야기 story, 약속 promise, 소식 ~news
조언 ~advice, 방법 method, 이유 reason, 규칙 rule, 경험 experience, 의견 opinion, 소문 rumor, 농담 joke, 사실 fact
제안 suggestion, 대답 answer, 실수 mistake, 차이 difference, 이론 theory, 주제 topic, 예 example, 단어 word
문장 sentence, 습관 habit, 정보 ~information, 설명 explanation, 취미 hobby, 목표 goal, 기회 opportunity, 변명 excuse
수수께끼 riddle, 전설 legend
@asset -
시간 ~time, 돈 ~money, 힘 ~strength, 용기 ~courage, 자신감 ~confidence
@sky -
하늘 !sky, 해 !sun, 달 !moon, 별 star, 구름 cloud, 무지개 rainbow, 노을 !sunset
"""

# Family: Korean, English, gender, whether the subject is honoured, the possessive that means "my" (우리 or 내)
KIN = """
어머니 mother f honoured 우리, 아버지 father m honoured 우리, 할머니 grandmother f honoured 우리
할아버지 grandfather m honoured 우리, 이모 aunt f - 우리, 삼촌 uncle m - 우리, 형 older brother m - 우리
누나 older sister f - 우리, 남동생 younger brother m - 내, 여동생 younger sister f - 내, 아들 son m - 내
딸 daughter f - 내, 남편 husband m - 내, 아내 wife f - 내, 사촌 cousin m - 내, 조카 nephew m - 내
손자 grandson m - 내, 손녀 granddaughter f - 내, 엄마 mom f - 우리, 아빠 dad m - 우리
"""

# Respected people outside the family, with 우리 (our): they are honoured as subjects.
RESPECTED = """
선생님 teacher f, 교수님 professor m, 사장님 boss m, 부장님 department head m, 교장 선생님 principal f
감독님 head coach m, 과장님 section chief m, 원장님 clinic director f, 목사님 pastor m, 주인아주머니 landlady f
"""

MALE_ROLES = """man boy gentleman young man prince king waiter fisherman businessman actor hero clown magician thief
president ambassador soldier carpenter freshman security guard"""
FEMALE_ROLES = """woman girl young lady princess queen ballerina nurse model secretary announcer hairdresser"""
