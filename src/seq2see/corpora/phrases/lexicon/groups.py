"""Subsets of the noun classes that some verbs and adjectives need: `name: English words`, by their English, or
`name: +classes`."""

GROUPS = """
pool: swimming pool, sea, river, lake
site_pray: church, temple
book_written: book, novel, report, autobiography, mystery novel, cookbook
snack_baked: bread, cake, cookie, pie, muffin, croissant
dish_boiled: soup, ramen, porridge, seaweed soup, kimchi stew, soybean paste stew, curry
container_dish: cup, pot, frying pan, drinking glass, lunch box, teacup
vehicle_ride: bus, taxi, bicycle, motorcycle, train, subway, airplane, scooter, carriage
vehicle_drive: car, truck, bus, taxi, motorcycle, scooter
building_house: house, cabin, villa, apartment building
machine_small: camera, laptop, calculator, tablet, cell phone, radio
animal_pet: dog, cat, rabbit, puppy, kitten, hamster, parrot, goldfish, turtle
idea_found: method, reason, fact, mistake, difference, answer
site_school: school, university, high school, middle school, elementary school, classroom
instrument_the: piano, guitar, violin, cello, flute, drum, harp, trumpet, clarinet, saxophone, ukulele, harmonica
study_music: music
idea_told: story, news, secret, joke, rumor, legend, fact, riddle
event_heard: lecture, concert
portrait: portrait
garden: garden, yard, farm, greenhouse
ball_thrown: ball
event_held: meeting, class, party, festival, exhibition, event, concert, seminar, contest, birthday party
light: lamp, flashlight
rule: rule
idea_known: answer, secret, reason, method, fact, rule, word, legend
promise: promise
museum: museum, art museum, zoo, temple, botanical garden, aquarium
venue_seen: park, museum, art museum, square, campground
glass: cup, plate, drinking glass, mirror, vase, teacup
restaurant: restaurant, cafe
study_art: calligraphy, taekwondo, judo, programming
idea_need: advice, information, plan, explanation, goal, opportunity, example
film_text: TV drama, documentary, play
idea_words: word, sentence, rule, answer
poem_verse: poem
room_work: office, meeting room, laboratory
book_report: report
letter_mail: email
snack_wrap: cake, cookie, rice cake, chocolate
idea_science: theory, problem, method
lab: laboratory, university
problem: problem, riddle
ribbon: ribbon, rope, scarf
rope: rope
coins: stamp, ticket, receipt
tree_xmas: tree
stamps: stamp, postcard, photo
opening_lock: door, gate
bottle: box, tree
clothes_iron: shirt, skirt, suit, blouse, pants, school uniform
doll: doll
sock: socks
butter: butter, chocolate, cheese
meat_fry: pork, beef, squid, shrimp, chicken
vegetable_fry: potato, sweet potato, pumpkin, eggplant, carrot
snack_steam: dumpling, egg
play_staged: play, musical
stage: theater, school, square, park
paper_form: application form, contract
poem_paper: essay, thesis
plan: plan, suggestion
pet_indoors: dog, cat, puppy, kitten, parrot
indoors: room, living room, kitchen, bedroom, bathroom, basement, meeting room, laboratory, garage, study room
planned: plan, topic, method, goal
parcel: package, letter, postcard, bouquet
offer: suggestion, invitation, gift
idea_opinion: opinion, advice, suggestion
idea_changed: plan, topic, habit, goal, rule
method: method, opinion, theory, plan
school: school, university, high school, middle school, elementary school, kindergarten
company: company, hospital, factory, bank, post office, airport, city hall, embassy, zoo, art museum
height: mountain, hill, tower, ladder
depth: basement, valley, riverside
live: countryside, island, dormitory
water_place: sea, river, lake, swimming pool
park: park, riverside, lakeside
money: gift, gift card, receipt
secret: secret, story, news, joke, reason
hanging: apple, persimmon, picture frame, plate, cup, star
dogs: dog, puppy
birds: bird, sparrow, eagle, crow, pigeon, owl
pen_knife: knife
animal_fast: horse, dog, rabbit, deer, fox, tiger
animal_slow: turtle, cow, camel
animal_wild: tiger, lion, bear, wolf, snake, shark
animal_clever: dog, monkey, fox, dolphin, crow, parrot, elephant
sky_light: sun, moon, star
event_exam: exam, class, lecture, game
clothes_long: skirt, coat, dress, pants
role_known: doctor, lawyer, singer, actor, painter, writer, poet, musician, scientist, architect, athlete,
  director, dancer, philosopher, pianist, designer, model
role_adult: doctor, nurse, lawyer, reporter, farmer, engineer, scientist, writer, man, woman, detective, programmer
role_art: singer, actor, painter, writer, poet, musician, dancer, pianist, photographer, designer, cook
role_child: boy, girl, child
animal_white: dog, cat, rabbit, horse, goat, puppy, kitten
color_fruit: apple
sky_blue: sky
furniture_table: table, mirror, clock
sky_moon: moon
surface: desk, chair, dining table, bed, sofa, bookcase, bench, table, piano, refrigerator, box
interior: bag, box, basket, backpack, suitcase, drawer, wardrobe
small: key, wallet, letter, notebook, cup, apple, pencil, doll, ball, map, camera, book, wristwatch, candle, scarf
props: car, bicycle, motorcycle, computer, laptop, camera, cell phone, piano, guitar, violin, dog, cat, parrot,
  rabbit, question, plan, dream, secret, idea, problem, hobby, ring, umbrella, key, map, ticket, house, villa,
  telescope, yacht, tent, dictionary, suit, hanbok, robot
sweets: cake, cookie, donut, candy, chocolate, ice cream, pudding, pie, rice cake, waffle, muffin, cola, juice,
  cocoa, lemonade, jam, baked sweet potato
tale: story, legend, news, poem
animal_farm: cow, pig, hen, duck, sheep, goat, horse, rabbit
idea_explained: problem, plan, idea, method, reason, rule, opinion, theory, topic, difference, word, sentence, fact
machine_invented: robot, telephone, camera, telescope, microscope, sewing machine, printer, compass, refrigerator
stuff: book, novel, dictionary, notebook, cup, hat, key, umbrella, letter, bag, wallet, camera, clock, apple,
  vase, doll, plate, box, kettle, pencil, map, ball
bought: +fruit, snack, book, clothes, shoes, hat, accessory, container, pen, stationery, toy, gift, flower,
  furniture, machine
liked: +fruit, snack, slice, dish, meat, drink, cold_drink, film, song, sport, study, animal, flower, book
lives: +city, country, live, town
idea_interesting: story, topic, experience, hobby, riddle, question, legend, idea
idea_special: plan, experience, promise, reason, story
idea_dear: promise, experience, dream, opportunity, advice
idea_unique: idea, habit, hobby, method, opinion, theory
idea_plain: hobby, story, idea, habit, problem
idea_useful: information, advice, method, word, example, opportunity, experience
idea_weighty: problem, question, plan, promise, method, reason, rule, experience, fact, goal
idea_odd: question, dream, idea, story, rumor, reason, habit, joke, sentence
idea_hard: problem, question, plan, method, rule, theory, sentence, reason
idea_fresh: plan, idea, method, rule, goal, habit, word, opportunity, dream, theory
idea_good: plan, idea, suggestion, answer, explanation, theory
idea_unknown: word, sentence, topic
"""
