"""Verbs with their frames: what they govern, and which adverbs and places suit them.

    Korean[:irregular] | English | noun classes of the object | marks

Marks: a letter names a group of manner adverbs (see adverbs.py); `state` has no progressive; `chance` is nothing
one can want, be able or be obliged to do; `generic` makes a bare object plural in English (sell apples) and an
instrument definite (play the piano); `many` wants several of a thing, `single` one; `alone` has no company; `poss`
gives the object to the subject (wash *his* hands); `at=a,b` gives the classes of places where it happens (default:
common venues), `at=-` none. English words after the first stay behind the verb (wait *for*, take *off*).
"""

INTRANSITIVE = """
자다 | sleep | l q at=room,venue alone
쉬다 | rest | l
웃다 | laugh | b j
울다 | cry | b q
일어나다 | get up | m at=-
수영하다 | swim | l m at=pool
달리다 | run | m at=venue,nature
걷다:ㄷ | walk | m q at=venue,nature
춤추다 | dance | l j
운동하다 | exercise | d
공부하다 | study | d q
일하다 | work | d
뛰다 | jump | at=venue
앉다 | sit down | q m at=-
일어서다 | stand up | m at=-
기다리다 | wait | q
노래하다 | sing | l b j
요리하다 | cook | l at=room
여행하다 | travel | at=country
넘어지다 | fall down | chance at=venue,site
늦다 | be late | chance at=- state
기침하다 | cough | chance b at=room
하품하다 | yawn | chance at=room
소리치다 | shout | b
기도하다 | pray | d q at=site_pray
낚시하다 | fish | q at=nature
이사하다 | move house | at=-
출근하다 | go to work | m at=-
퇴근하다 | leave work | m at=-
졸업하다 | graduate | chance at=-
연습하다 | practice | d l
농담하다 | joke | l
떠나다 | leave | m q x at=-
눕다:ㅂ | lie down | q at=room alone
놀다 | play | q
성공하다 | succeed | chance at=-
실패하다 | fail | chance at=-
미소 짓다:ㅅ | smile | q at=venue
투표하다 | vote | at=-
캠핑하다 | camp | at=nature
등산하다 | hike | at=-
쇼핑하다 | shop | m at=shop
외출하다 | go out | at=- q
귀가하다 | return home | m at=-
도망치다 | run away | m q x at=-
포기하다 | give up | m at=-
회의하다 | hold a meeting | at=room_work
은퇴하다 | retire | chance at=-
명상하다 | meditate | q
"""

TRANSITIVE = """
먹다 | eat | fruit,snack,slice,dish,meat | m q
마시다 | drink | drink,cold_drink | m q
사다 | buy | bought | at=shop
팔다 | sell | fruit,vegetable,book,clothes,shoes,furniture,machine,vehicle,flower,accessory | at=shop generic
읽다 | read | book,letter,poem,periodical | m q t
쓰다 | write | book_written,letter,poem | m q
보다 | watch | film | q
만들다 | make | snack,dish,toy,furniture,clothes,accessory,container | m c
요리하다 | cook | dish,meat | m c l
굽다:ㅂ | bake | snack_baked | m c
끓이다 | boil | dish_boiled | m at=room
씻다 | wash | fruit,vegetable,container_dish | m t at=room
썰다 | chop | vegetable | m c at=room
입다 | wear | clothes | at=- single
하다 | play | sport | l
신다 | put on | shoes | m at=- single
벗다 | take off | clothes,shoes,hat | m at=- single
타다 | ride | vehicle_ride,boat | at=- single
운전하다 | drive | vehicle_drive | c l at=- single
고치다 | fix | machine,vehicle,furniture,toy,instrument,shoes | m l at=-
청소하다 | clean | room,building_house | t m at=-
빌리다 | borrow | book,tool,vehicle_drive,machine_small,pen | at=-
찾다 | look for | tool,book,pen,container,accessory,animal_pet,shoes | at=venue,room
발견하다 | discover | idea_found,container,accessory,animal | chance
잃어버리다 | lose | tool,container,accessory,pen,toy,paper | chance at=venue,site
훔치다 | steal | accessory,container,vehicle_drive,picture,machine | q x at=shop,building
가르치다 | teach | study | h l at=site_school
배우다 | learn | study,instrument_the | h at=site_school generic
공부하다 | study | study | d q
연주하다 | play | instrument_the | l generic
부르다:르 | sing | song | b l j
듣다:ㄷ | listen to | song,study_music,idea_told,event_heard | q
그리다 | draw | picture,animal,flower,tree,building,portrait | l c
찍다 | photograph | animal,flower,building,tree,sky | c at=venue,nature
키우다 | raise | animal_farm,animal_pet | l at=- generic
기르다:르 | grow | flower,tree,vegetable | l at=garden generic
심다 | plant | tree,flower,vegetable | at=garden
꺾다 | pick | flower | at=garden
잡다 | catch | animal,insect | at=nature
먹이다 | feed | animal_pet | at=-
열다 | open | opening,letter,container | q c x at=-
닫다 | close | opening | q c at=-
켜다 | turn on | machine,light | at=-
끄다 | turn off | machine,light | at=-
사용하다 | use | machine,tool,pen,stationery | l c
나르다:르 | carry | container,furniture,machine | m c at=-
옮기다 | move | furniture,container,machine | m c at=-
던지다 | throw | ball_thrown | at=venue
보내다 | send | letter,gift,paper | m at=-
받다 | receive | letter,gift,paper | at=-
버리다 | throw away | paper,clothes,shoes,container,toy,tool | at=-
그만두다 | quit | sport | at=-
시작하다 | start | study,sport,event_held | at=-
짓다:ㅅ | build | building | m at=nature
부수다 | destroy | building,toy,machine | at=-
설명하다 | explain | idea_explained,rule | l f s at=-
이해하다 | understand | idea,study | l state at=-
알다 | know | idea_known,song | l state at=-
잊다 | forget | idea_told | chance at=-
기억하다 | remember | idea_told,song | l state at=-
믿다 | believe | idea_told | state at=-
말하다 | tell | idea_told | f q at=-
나누다 | share | snack,fruit,idea_told,dish | at=venue,room
준비하다 | prepare for | event | h at=-
끝내다 | finish | book_report,event_held,poem,picture | m at=-
계획하다 | plan | event_held | at=-
취소하다 | cancel | event | m at=-
놓치다 | miss | vehicle_ride,event | chance at=- single
방문하다 | visit | city,country,town,museum | at=-
구경하다 | look around | venue_seen,shop,city,town | m at=-
떠나다 | leave | city,country | m q at=-
깨다 | break | glass | chance at=room,venue
주문하다 | order | dish,meat,snack,drink,cold_drink,slice | at=restaurant
맛보다 | taste | dish,meat,snack,fruit,drink | at=restaurant
연습하다 | practice | sport,instrument_the,song,study_art | d generic
좋아하다 | like | liked | e state generic at=-
싫어하다 | dislike | vegetable,dish,drink,insect,film,sport,study,animal | state generic at=-
원하다 | want | gift,vehicle_drive,machine,clothes,toy,accessory | state at=-
필요로 하다 | need | tool,machine,idea_need,container,pen | state at=-
수리하다 | repair | vehicle,machine,building,boat,opening | m l at=-
번역하다 | translate | book,poem,letter,film_text | m l
외우다 | memorize | idea_words,poem_verse,song | m l
복사하다 | copy | paper,book_report | m at=room_work
인쇄하다 | print | paper,book_report | m at=room_work
포장하다 | wrap | gift,book,toy,snack_wrap | m c at=-
숨기다 | hide | gift,parcel,container,accessory,toy | m x at=room
정리하다 | organize | book,tool,stationery | m t at=- many
칠하다 | paint | building,opening,furniture | m at=-
연구하다 | research | study,seacreature,insect,idea_science | h at=lab generic
발명하다 | invent | machine_invented | at=lab
토론하다 | discuss | idea_explained | at=venue
해결하다 | solve | problem | m l at=-
운반하다 | transport | furniture,machine,vegetable | m c at=-
묶다 | tie | ribbon | m at=-
당기다 | pull | opening,rope | at=-
밀다 | push | opening,vehicle,furniture | at=-
조립하다 | assemble | furniture,machine,toy,vehicle | m c at=room
즐기다 | enjoy | sport,event | at=-
추천하다 | recommend | film,book,restaurant | at=-
평가하다 | evaluate | poem,film,book,dish | t at=-
감상하다 | appreciate | picture,song | q at=-
관찰하다 | observe | animal,insect,flower,sky,seacreature | t q at=nature generic
세다 | count | coins | c at=- many
교환하다 | exchange | gift,clothes,shoes,paper | at=shop
꾸미다 | decorate | room,tree_xmas,snack_baked | at=-
수집하다 | collect | stamps,toy,book,instrument | many at=-
잠그다 | lock | opening_lock | c at=-
흔들다 | shake | bottle,tree | at=-
싣다:ㄷ | load | container,furniture,machine | m c at=-
젓다:ㅅ | stir | dish_boiled,drink | c at=room
붓다:ㅅ | pour | drink,cold_drink | c at=room
쌓다 | pile up | book,container | c at=room many
다리다 | iron | clothes_iron | m c at=room
꿰매다 | sew up | clothes,doll,sock | c at=room
녹이다 | melt | butter | c at=room
볶다 | fry | vegetable,meat_fry | m at=room
튀기다 | deep-fry | vegetable_fry,meat_fry | m at=room
찌다 | steam | vegetable_fry,snack_steam | at=room
섞다 | mix | seasoning | c at=room
공연하다 | perform | play_staged | l at=stage
제출하다 | submit | book_report,paper_form,poem_paper | at=-
출판하다 | publish | book,poem | at=-
편집하다 | edit | book_report,poem,film_text | t at=-
검토하다 | review | book_report,plan,paper_form | t at=-
거절하다 | refuse | offer | s at=-
받아들이다 | accept | offer,idea_opinion | m at=-
무시하다 | ignore | idea_opinion,rule | at=-
어기다 | violate | rule | chance at=-
따르다 | follow | rule,idea_opinion | l at=-
바꾸다 | change | idea_changed,clothes | m at=-
비교하다 | compare | method | c at=-
"""

# The object is a person; case of the Korean object after the English: 을 (default), 에게, 과
PERSON = """
만나다 | meet | 을 | at=venue,site
돕다:ㅂ | help | 을 | at=-
기다리다 | wait for | 을 | q at=venue,site
사랑하다 | love | 을 | e state at=-
좋아하다 | like | 을 | e state at=-
존경하다 | respect | 을 | e state at=-
믿다 | trust | 을 | state at=-
초대하다 | invite | 을 | at=-
찾다 | look for | 을 | at=venue,site
부르다:르 | call out to | 을 | b at=venue
칭찬하다 | praise | 을 | at=-
방문하다 | visit | 을 | at=-
도와주다 | assist | 을 | at=-
따라가다 | follow | 을 | q m x at=-
소개하다 | introduce | 을 | at=venue
깨우다 | wake | 을 | q at=-
위로하다 | comfort | 을 | q at=-
용서하다 | forgive | 을 | at=-
오해하다 | misunderstand | 을 | chance at=-
그리워하다 | miss | 을 | e state at=-
걱정하다 | worry about | 을 | at=-
가르치다 | teach | 을 | l s at=site_school
보다 | see | 을 | chance at=venue,site,shop
쫓다 | chase | 을 | m at=venue
놀리다 | tease | 을 | at=venue
격려하다 | encourage | 을 | s at=-
보호하다 | protect | 을 | l at=-
전화하다 | call | 에게 | at=-
인사하다 | greet | 에게 | s at=venue
사과하다 | apologize to | 에게 | s at=-
대답하다 | answer | 에게 | m s f at=-
거짓말하다 | lie to | 에게 | at=-
속삭이다 | whisper to | 에게 | q at=venue
부탁하다 | ask a favor of | 에게 | s at=-
웃어 주다 | smile at | 에게 | q at=venue
이야기하다 | talk with | 과 | q at=venue,room
놀다 | play with | 과 | at=venue
싸우다 | fight with | 과 | at=venue
헤어지다 | part with | 과 | at=-
일하다 | work with | 과 | d at=venue
여행하다 | travel with | 과 | at=country
통화하다 | talk on the phone with | 과 | q at=room
약속하다 | make a promise to | 과 | at=-
화해하다 | make up with | 과 | at=-
산책하다 | go for a walk with | 과 | at=venue
경쟁하다 | compete with | 과 | at=-
토론하다 | debate with | 과 | at=venue
악수하다 | shake hands with | 과 | at=venue
의논하다 | consult with | 과 | at=-
"""

# Movement to a place: Korean, English, preposition of the goal, classes of places
MOTION = """
가다 | go | to | site,venue,shop,city,country,event,nature,town | m
오다 | come | to | venue,city,event | m
도착하다 | arrive | at | site,venue,shop | chance
돌아가다 | go back | to | site,venue,city,country,town | m
돌아오다 | come back | to | city,venue | m
다니다 | attend | - | school | -
들어가다 | go | into | indoors,shop,museum | m q
올라가다 | climb | up | height | m
내려가다 | go down | to | depth | m
달려가다 | run | to | site,venue,shop | m
걸어가다 | walk | to | site,venue,shop | m
이사하다 | move | to | city,country,live,town,town | -
날아가다 | fly | to | city,country | -
뛰어들다 | jump | into | water_place | -
모이다 | gather | at | venue | chance
출장을 가다 | go on a business trip | to | city,country | -
여행을 가다 | go on a trip | to | city,country,nature,town | -
소풍을 가다 | go on a picnic | to | nature,park | -
이민을 가다 | emigrate | to | country | -
유학을 가다 | go to study | in | country | -
"""

# Someone gives something to someone: Korean, English, classes of the thing
DATIVE = """
주다 | give | gift,book,flower,snack,drink,money,accessory,toy,fruit
보내다 | send | letter,gift,paper,flower
보여 주다 | show | paper,picture,book,letter,accessory,machine_small
빌려주다 | lend | book,tool,pen,vehicle_drive,machine_small
가르치다 | teach | study,song,instrument_the | generic
팔다 | sell | vehicle,machine,book,furniture,building_house
설명하다 | explain | idea_explained,rule,problem
말하다 | tell | secret
선물하다 | present | flower,accessory,book,hat,toy,clothes
던지다 | throw | ball_thrown
추천하다 | recommend | film,book,dish
돌려주다 | return | book,tool,money,pen
소개하다 | introduce | film,book,restaurant
읽어 주다 | read | book,poem,letter
배달하다 | deliver | parcel,dish,flower,snack
전하다 | pass on | idea_told
제안하다 | propose | planned
불러 주다 | sing | song
"""

# Fixed phrases: Korean arguments and verb, English verb and the words that render the arguments
IDIOMS = """
샤워를 하다 | take | a shower | m at=-
산책을 하다 | take | a walk | q at=venue,nature
사진을 찍다 | take | pictures | l at=venue,nature
설거지를 하다 | do | the dishes | m at=-
숙제를 하다 | do | homework | m q at=venue,room
빨래를 하다 | do | the laundry | m at=-
청소를 하다 | do | the cleaning | m at=-
이를 닦다 | brush | teeth | m t at=- poss
손을 씻다 | wash | hands | m t at=- poss
머리를 감다 | wash | hair | m at=- poss
세수를 하다 | wash | face | m at=- poss
머리를 자르다:르 | cut | hair | m at=- poss
눈을 감다 | close | eyes | q at=- poss
손을 들다 | raise | hand | q m at=- poss
아침을 먹다 | have | breakfast | m at=venue,room
점심을 먹다 | have | lunch | m at=venue,room
저녁을 먹다 | have | dinner | m at=venue,room
돈을 벌다 | earn | money | at=-
돈을 모으다 | save | money | h at=-
돈을 쓰다 | spend | money | at=shop
길을 건너다 | cross | the street | m c at=-
길을 잃다 | lose | way | chance at=city,nature poss
시간을 보내다 | spend | time | q at=venue,nature
담배를 피우다 | smoke | cigarettes | at=-
담배를 끊다 | quit | smoking | at=-
일기를 쓰다 | keep | a diary | h at=-
운전을 배우다 | learn | to drive | at=-
전화를 받다 | answer | the phone | m q at=-
수영을 배우다 | learn | to swim | at=-
아르바이트를 하다 | work | part-time | d at=shop,restaurant
감기에 걸리다 | catch | a cold | chance at=-
거짓말을 하다 | tell | a lie | at=-
음식을 준비하다 | prepare | food | m at=room
음식을 남기다 | leave | food | at=-
텔레비전을 보다 | watch | television | q at=-
낮잠을 자다 | take | a nap | q at=venue,room alone
잠을 자다 | get | some sleep | at=-
꿈을 꾸다 | have | a dream | chance at=-
등산을 하다 | go | hiking | at=-
쓰레기를 버리다 | take out | the trash | m at=-
자리를 예약하다 | reserve | a seat | at=-
방을 예약하다 | book | a room | at=-
회의에 참석하다 | attend | the meeting | at=-
수업에 늦다 | be late | for class | chance state at=-
약속을 지키다 | keep | promise | at=- poss
약속을 잊다 | forget | promise | chance at=- poss
시험을 보다 | take | the exam | at=-
시험에 합격하다 | pass | the exam | at=-
시험에 떨어지다 | fail | the exam | chance at=-
면접을 보다 | have | a job interview | at=-
실수를 하다 | make | a mistake | chance at=-
질문을 하다 | ask | a question | q at=-
자원봉사를 하다 | do | volunteer work | at=-
영화를 보러 가다 | go to see | a movie | at=-
친구를 사귀다 | make | friends | l at=-
이름을 쓰다 | write | name | c at=- poss
다리를 다치다 | hurt | leg | chance at=- poss
팔을 다치다 | hurt | arm | chance at=- poss
짐을 싸다 | pack | luggage | m at=- poss
옷을 갈아입다 | change | clothes | m at=- poss
차를 마시다 | drink | some tea | q at=venue,room
불을 끄다 | turn off | the light | at=-
불을 켜다 | turn on | the light | at=-
버스를 갈아타다 | change | buses | at=-
줄을 서다 | stand | in line | q at=shop,venue
눈사람을 만들다 | make | a snowman | at=venue
생일을 축하하다 | celebrate | birthday | at=- poss
노력을 하다 | make | an effort | at=-
결정을 내리다 | make | a decision | m at=-
책임을 지다 | take | responsibility | at=-
자리를 양보하다 | give up | seat | at=- poss
집에 가다 | go | home | m at=-
집에 오다 | come | home | m at=-
집에 있다 | stay | home | state at=-
학교에 늦다 | be late | for school | chance state at=-
차를 세우다 | park | the car | c at=-
구급차를 부르다:르 | call | an ambulance | m at=-
"""

# Things do something: Korean, English, classes of the subject
THINGS = """
도착하다 | arrive | vehicle,boat
출발하다 | depart | vehicle,boat
멈추다 | stop | vehicle,machine
고장 나다 | break down | machine,vehicle
시작되다 | begin | event
끝나다 | end | event
피다 | bloom | flower
시들다 | wither | flower
떨어지다 | fall | hanging
열리다 | open | opening
닫히다 | close | opening
사라지다 | disappear | accessory,container,tool
팔리다 | be sold | furniture,vehicle,picture
짖다 | bark | dogs
날다 | fly | birds
자다 | sleep | animal
먹이를 먹다 | eat | animal
뛰어다니다 | run around | animal
숨다 | hide | animal
무너지다 | collapse | building
흔들리다 | shake | tree,building,boat
자라다 | grow | tree,flower
변하다 | change | city,nature
가라앉다 | sink | boat
"""

WEATHER = """
비가 오다 | rain | it, 눈이 오다 | snow | it, 바람이 불다 | blow | the wind, 천둥이 치다 | thunder | it
해가 뜨다 | rise | the sun, 해가 지다 | set | the sun, 달이 뜨다 | rise | the moon, 날이 밝다 | dawn | the day
"""

# Verbs of speaking and thinking: Korean, English, what introduces the clause (quote, fact, question)
CLAUSAL = """
말하다 | say | quote, 생각하다 | think | quote, 믿다 | believe | quote, 듣다:ㄷ | hear | quote chance
느끼다 | feel | quote, 주장하다 | claim | quote, 설명하다 | explain | quote, 대답하다 | answer | quote
인정하다 | admit | quote, 발표하다 | announce | quote, 예상하다 | expect | quote, 속삭이다 | whisper | quote
약속하다 | promise | quote_future, 소리치다 | shout | quote, 불평하다 | complain | quote, 쓰다 | write | quote
알다 | know | fact state, 깨닫다:ㄷ | realize | fact chance, 기억하다 | remember | fact state
잊다 | forget | fact chance, 확인하다 | confirm | fact, 이해하다 | understand | fact state
궁금해하다 | wonder | question, 묻다:ㄷ | ask | question, 알다 | know | question state
모르다:르 | not know | question state, 알아내다 | find out | question, 기억하다 | remember | question state
설명하다 | explain | question
"""
