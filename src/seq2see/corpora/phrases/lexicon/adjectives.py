"""Adjectives (Korean descriptive verbs) with the noun classes they may describe.

    Korean[:irregular] | English | classes | marks

Marks: `있` conjugates like 있다 (맛있는); `feeling` needs -아하다 with a third person (기뻐하다); `attr` stands only
before a noun (오래된, 낡은).
"""

ADJECTIVES = """
맛있다 | delicious | fruit,snack,slice,dish,meat,drink,cold_drink | 있
맛없다 | tasteless | fruit,snack,slice,dish,meat | 있
달다 | sweet | fruit,sweets
맵다:ㅂ | spicy | dish,meat
짜다 | salty | dish,meat,slice
시다 | sour | fruit
싱겁다:ㅂ | bland | dish
느끼하다 | greasy | meat,slice
부드럽다:ㅂ | soft | snack,meat,clothes,sheet
신선하다 | fresh | fruit,vegetable,meat
뜨겁다:ㅂ | hot | dish,drink
차갑다:ㅂ | cold | cold_drink,fruit
따뜻하다 | warm | drink,clothes,dish,sheet,room
진하다 | strong | drink
건강에 좋다 | healthy | vegetable,fruit,dish
크다 | big | animal,fruit,vegetable,furniture,container,building,machine,vehicle,boat,tree,toy,flower,room
작다 | small | animal,fruit,vegetable,furniture,container,building,machine,vehicle,boat,toy,flower,room,insect
거대하다 | huge | building,tree,boat,seacreature
비싸다 | expensive | book,clothes,shoes,hat,accessory,furniture,container,machine,vehicle,instrument,gift,meat,picture
싸다 | cheap | book,clothes,shoes,hat,furniture,container,machine,pen,toy,fruit,vegetable
무겁다:ㅂ | heavy | book,furniture,container,machine,tool,instrument
가볍다:ㅂ | light | container,machine,tool,shoes,clothes
낡다 | old | book,clothes,shoes,furniture,container,machine,vehicle,building,instrument,boat | attr
튼튼하다 | sturdy | furniture,container,building,shoes,boat,tool
예쁘다 | pretty | clothes,shoes,hat,accessory,flower,container,picture,toy,gift,sheet
아름답다:ㅂ | beautiful | flower,picture,town,nature,building,song,tree,sky
멋지다 | stylish | clothes,shoes,hat,accessory,vehicle
귀엽다:ㅂ | cute | animal,toy
더럽다:ㅂ | dirty | clothes,shoes,container,room,sheet,vehicle
깨끗하다 | clean | clothes,shoes,container,room,sheet,vehicle
편하다 | comfortable | clothes,shoes,furniture,vehicle
편리하다 | convenient | machine
새롭다:ㅂ | new | idea_fresh
유용하다 | useful | tool,machine,book,idea_useful
특별하다 | special | gift,idea_special,event
소중하다 | precious | accessory,gift,letter,idea_dear
날카롭다:ㅂ | sharp | pen_knife
빠르다:르 | fast | vehicle,animal_fast,boat
느리다 | slow | vehicle,animal_slow,boat,machine
위험하다 | dangerous | animal_wild,nature,sport
안전하다 | safe | town,country,vehicle,toy
사납다:ㅂ | fierce | animal_wild
영리하다 | clever | animal_clever
시끄럽다:ㅂ | noisy | machine,venue,town,vehicle
조용하다 | quiet | venue,room,town,nature
넓다 | spacious | room,venue,building_house
좁다 | narrow | room
밝다 | bright | room,sky_light
어둡다:ㅂ | dark | room
복잡하다 | complicated | idea_hard,machine
단순하다 | simple | idea_hard,toy
재미있다 | interesting | book,film,poem,idea_interesting,study,song | 있
재미없다 | boring | book,film,poem,study,event | 있
지루하다 | tedious | film,book,event
슬프다 | sad | film,song,tale
무섭다:ㅂ | scary | film,animal_wild,tale
감동적이다 | touching | film,book,poem,song
어렵다:ㅂ | difficult | book,study,problem,event_exam,poem
쉽다:ㅂ | easy | book,study,problem,event_exam
길다 | long | letter,film,poem,book,event,clothes_long
짧다 | short | letter,film,poem,book,clothes_long
두껍다:ㅂ | thick | book,clothes,sheet
얇다 | thin | book,clothes,sheet
중요하다 | important | idea_weighty,event,letter,book,paper
이상하다 | strange | idea_odd,film,letter,book
훌륭하다 | excellent | book,film,poem,picture,idea_good
오래되다 | ancient | building,tree,picture | attr
유명하다 | famous | role_known,film,book,song,picture,town,building,restaurant
친절하다 | kind | role
똑똑하다 | smart | role
착하다 | good-hearted | role
정직하다 | honest | role
부지런하다 | diligent | role
게으르다:르 | lazy | role
용감하다 | brave | role
키가 크다 | tall | role
젊다 | young | role_adult
가난하다 | poor | role
부유하다 | rich | role
예의 바르다:르 | polite | role
수줍다 | shy | role
재능 있다 | talented | role_art | 있
까다롭다:ㅂ | picky | role
엄격하다 | strict | role
현명하다 | wise | role
순진하다 | naive | role
욕심이 많다 | greedy | role
꼼꼼하다 | meticulous | role
조심스럽다:ㅂ | cautious | role
사랑스럽다:ㅂ | lovely | animal,role_child
빨갛다:ㅎ | red | clothes,shoes,hat,flower,vehicle,container,sheet,color_fruit
파랗다:ㅎ | blue | clothes,shoes,hat,vehicle,container,sheet
노랗다:ㅎ | yellow | clothes,shoes,hat,flower,vehicle,container,sheet
하얗다:ㅎ | white | clothes,shoes,hat,flower,vehicle,container,sheet,animal_white
까맣다:ㅎ | black | clothes,shoes,hat,vehicle,container,animal_white
푸르다:러 | azure | sky_blue
둥글다 | round | furniture_table,toy,container,sky_moon
가늘다 | slender | pen,tree
평범하다 | ordinary | clothes,idea_plain,building
독특하다 | unique | clothes,idea_unique,building,picture,hat
화려하다 | fancy | clothes,accessory,building,hat
소박하다 | modest | building,clothes,gift
흥미롭다:ㅂ | fascinating | book,idea_interesting,film,study
신비롭다:ㅂ | mysterious | nature,tale,sky
평화롭다:ㅂ | peaceful | nature,country,town
해롭다:ㅂ | harmful | insect
낯설다 | unfamiliar | town,country,idea_unknown
"""

# What one says of a person's present state; only the predicate, never before a noun
STATES = """
피곤하다 | tired, 배고프다 | hungry, 목마르다:르 | thirsty, 바쁘다 | busy, 아프다 | sick, 행복하다 | happy
건강하다 | healthy, 기쁘다 | glad | feeling, 슬프다 | sad | feeling, 외롭다:ㅂ | lonely | feeling
무섭다:ㅂ | scared | feeling, 부끄럽다:ㅂ | ashamed | feeling, 괴롭다:ㅂ | distressed | feeling
지루하다 | bored | feeling, 답답하다 | frustrated | feeling, 불안하다 | anxious | feeling
만족스럽다:ㅂ | satisfied | feeling, 즐겁다:ㅂ | cheerful | feeling, 졸리다 | sleepy | feeling
자랑스럽다:ㅂ | proud | feeling, 우울하다 | depressed | feeling, 당황스럽다:ㅂ | embarrassed | feeling
억울하다 | upset | feeling, 초조하다 | nervous | feeling
"""

REASONS = (
    *("tired", "hungry", "thirsty", "busy", "sick", "sleepy", "bored"),
    *("lonely", "scared", "anxious", "nervous", "sad", "depressed"),
)
"""States that explain what one does next."""

CLIMATE = """
춥다:ㅂ cold, 덥다:ㅂ hot, 따뜻하다 warm, 시원하다 cool, 흐리다 cloudy, 맑다 clear, 좋다 good, 나쁘다 bad, 습하다 humid
"""
