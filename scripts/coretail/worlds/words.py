"""Everyday English for the contents of states.

A state is a place of some kind ("quiet bakery"), holds things that one finds in such a place, and
its actions name a place or a thing that they lead towards.
"""

QUALITIES: tuple[str, ...] = (
    "old", "new", "quiet", "busy", "small", "large", "bright", "dark", "warm", "cold",
    "clean", "dusty", "narrow", "wide", "red", "blue", "green", "white", "yellow", "grey",
    "stone", "wooden", "brick", "upper", "lower", "northern", "southern", "eastern", "western",
    "hidden", "sunny", "shady", "crowded", "empty", "cosy", "grand", "plain", "windy", "rustic",
    "modern",
)  # fmt: skip

# Each kind of place with ten things that are found there.
PLACES: dict[str, tuple[str, ...]] = {
    "airport": (
        "suitcase", "passport", "runway", "boarding pass", "control tower", "departure board",
        "baggage cart", "security gate", "travel pillow", "jet engine",
    ),
    "aquarium": (
        "shark", "octopus", "fish tank", "jellyfish", "coral", "sea turtle", "water pump",
        "viewing tunnel", "starfish", "penguin",
    ),
    "attic": (
        "old trunk", "cobweb", "rafters", "rocking horse", "photo album", "ladder", "skylight",
        "wool blanket", "dusty mirror", "moth trap",
    ),
    "bakery": (
        "bread loaf", "oven", "flour sack", "rolling pin", "croissant", "cake tin", "yeast",
        "pastry brush", "dough", "icing",
    ),
    "bank": (
        "vault", "coin tray", "cheque", "safe deposit box", "teller window", "banknote",
        "loan form", "cash machine", "ledger", "gold bar",
    ),
    "barn": (
        "hay bale", "pitchfork", "cow", "milk churn", "saddle", "grain bin", "barn owl", "horse",
        "water trough", "wheelbarrow",
    ),
    "bathroom": (
        "bathtub", "towel", "toothbrush", "soap dish", "shower curtain", "washbasin", "shampoo",
        "bath mat", "hairbrush", "toilet",
    ),
    "beach": (
        "seashell", "sandcastle", "deck chair", "surfboard", "sun hat", "beach ball", "driftwood",
        "parasol", "lifeguard post", "seaweed",
    ),
    "bedroom": (
        "bed", "pillow", "alarm clock", "wardrobe", "bedside lamp", "duvet", "slippers",
        "dressing gown", "teddy bear", "mattress",
    ),
    "bookshop": (
        "novel", "bookmark", "atlas", "poetry shelf", "travel guide", "cookbook", "comic book",
        "reading chair", "price sticker", "paperback rack",
    ),
    "bridge": (
        "handrail", "toll booth", "stone arch", "love lock", "river view", "footpath", "lantern",
        "steel cable", "fishing line", "keystone",
    ),
    "bus station": (
        "timetable", "ticket machine", "bus driver", "route map", "waiting bench",
        "double decker", "luggage rack", "bus lane", "platform sign", "coach",
    ),
    "butcher shop": (
        "sausage", "cleaver", "meat hook", "ham", "chopping block", "bacon", "steak", "mince",
        "butcher paper", "cold cabinet",
    ),
    "cafe": (
        "coffee cup", "espresso machine", "teapot", "sugar bowl", "menu board", "muffin",
        "milk jug", "cake stand", "barista", "saucer",
    ),
    "campsite": (
        "tent", "campfire", "sleeping bag", "camp stove", "marshmallow", "torch", "tent peg",
        "firewood", "hammock", "water bottle",
    ),
    "castle": (
        "throne", "drawbridge", "suit of armour", "moat", "dungeon", "banner", "battlement",
        "crown", "tapestry", "sword",
    ),
    "cave": (
        "stalactite", "bat", "underground stream", "crystal", "cave painting", "helmet lamp",
        "boulder", "echo", "rope ladder", "fossil",
    ),
    "cellar": (
        "wine rack", "oak cask", "cork", "coal heap", "jam jar", "trapdoor", "damp wall",
        "potato sack", "cider bottle", "wine press",
    ),
    "cemetery": (
        "gravestone", "wreath", "iron gate", "yew tree", "angel statue", "crypt", "flower vase",
        "gravedigger", "mourning bench", "epitaph",
    ),
    "chapel": (
        "altar", "candle", "hymn book", "stained glass", "organ", "pew", "church bell",
        "choir stall", "prayer cushion", "pulpit",
    ),
    "cinema": (
        "popcorn", "movie screen", "projector", "film poster", "velvet seat", "ticket stub",
        "aisle light", "film reel", "soda cup", "usher",
    ),
    "classroom": (
        "blackboard", "chalk", "school desk", "exercise book", "ruler", "globe", "pencil case",
        "wall chart", "teacher", "satchel",
    ),
    "clinic": (
        "stethoscope", "bandage", "thermometer", "waiting room", "nurse", "medicine cabinet",
        "syringe", "eye chart", "wheelchair", "stretcher",
    ),
    "court": (
        "judge", "gavel", "witness stand", "jury box", "law book", "lawyer", "evidence bag",
        "court robe", "verdict", "bailiff",
    ),
    "dairy": (
        "cheese wheel", "butter churn", "cream jug", "milk bottle", "cheese press", "whey",
        "yoghurt pot", "milking stool", "rennet", "cheesecloth",
    ),
    "desert": (
        "cactus", "sand dune", "camel", "scorpion", "oasis", "mirage", "lizard", "dry well",
        "palm tree", "caravan",
    ),
    "farmyard": (
        "tractor", "chicken", "pig pen", "scarecrow", "plough", "egg basket", "goose", "farm dog",
        "feed bucket", "rooster",
    ),
    "ferry": (
        "life jacket", "car deck", "ship horn", "gangway", "anchor", "passenger lounge",
        "porthole", "captain", "life raft", "mooring rope",
    ),
    "fire station": (
        "fire engine", "fire hose", "siren", "firefighter", "helmet", "sliding pole", "hydrant",
        "smoke mask", "fire axe", "alarm bell",
    ),
    "forest": (
        "oak tree", "mushroom", "deer", "pine cone", "bird nest", "fallen log", "fern", "fox",
        "moss", "squirrel",
    ),
    "garage": (
        "car", "toolbox", "spare tyre", "car jack", "oil can", "bicycle", "spanner", "paint tin",
        "workbench", "petrol can",
    ),
    "garden": (
        "rose bush", "watering can", "flower bed", "garden gnome", "lawnmower", "hedge", "spade",
        "bird bath", "trellis", "compost",
    ),
    "greenhouse": (
        "tomato plant", "seed tray", "glass roof", "flower pot", "orchid", "hosepipe", "vine",
        "potting soil", "heater", "cucumber",
    ),
    "gym": (
        "dumbbell", "treadmill", "yoga mat", "locker", "punch bag", "skipping rope",
        "exercise bike", "weight bench", "trainer", "climbing wall",
    ),
    "harbour": (
        "fishing boat", "lobster pot", "jetty", "fishing net", "seagull", "crane", "buoy",
        "harbour master", "sail", "fish crate",
    ),
    "hotel": (
        "room key", "reception desk", "bellboy", "minibar", "guest book", "luggage trolley",
        "lobby sofa", "lift", "chambermaid", "breakfast buffet",
    ),
    "ice rink": (
        "ice skates", "hockey stick", "puck", "ice machine", "scoreboard", "woolly hat",
        "skating coach", "goal net", "barrier", "hot chocolate",
    ),
    "kitchen": (
        "stove", "kettle", "frying pan", "fridge", "bread knife", "cutting board", "apron",
        "spice rack", "saucepan", "dish rack",
    ),
    "laboratory": (
        "microscope", "test tube", "beaker", "lab coat", "petri dish", "bunsen burner",
        "centrifuge", "safety goggles", "pipette", "white mouse",
    ),
    "laundry": (
        "washing machine", "clothes line", "ironing board", "detergent", "laundry basket",
        "clothes peg", "tumble dryer", "iron", "bed sheet", "odd sock",
    ),
    "library": (
        "bookshelf", "librarian", "reading lamp", "encyclopedia", "library card", "catalogue",
        "newspaper rack", "study table", "book trolley", "manuscript",
    ),
    "lighthouse": (
        "beacon", "spiral staircase", "foghorn", "logbook", "lamp lens", "keeper", "sea chart",
        "telescope", "storm shutter", "lamp oil",
    ),
    "market": (
        "fruit stall", "apple crate", "weighing scale", "cabbage", "stallholder", "shopping bag",
        "honey jar", "flower bunch", "awning", "pumpkin",
    ),
    "mill": (
        "millstone", "water wheel", "grain sack", "miller", "sluice", "flour chute",
        "wooden gear", "mill pond", "wheat", "hopper",
    ),
    "mine": (
        "pickaxe", "mine cart", "coal seam", "pit lamp", "shaft lift", "miner", "dynamite",
        "support beam", "iron ore", "canary",
    ),
    "museum": (
        "dinosaur skeleton", "oil painting", "marble statue", "glass case", "mummy",
        "audio guide", "ancient vase", "museum guard", "meteorite", "gift shop",
    ),
    "observatory": (
        "star map", "dome", "planet model", "night camera", "astronomer", "moon globe",
        "radio dish", "comet photo", "eyepiece", "sundial",
    ),
    "office": (
        "stapler", "printer", "filing cabinet", "office chair", "keyboard", "notice board",
        "paper clip", "desk phone", "calculator", "meeting table",
    ),
    "orchard": (
        "apple tree", "pear", "fruit basket", "beehive", "cherry", "picking ladder", "plum",
        "blossom", "cider barrel", "windfall",
    ),
    "park": (
        "swing", "duck pond", "park bench", "kite", "picnic rug", "fountain", "jogger", "slide",
        "bandstand", "ice cream van",
    ),
    "pharmacy": (
        "cough syrup", "pill bottle", "plaster", "prescription", "vitamin jar", "pharmacist",
        "ointment", "mortar", "eye drops", "sun cream",
    ),
    "police station": (
        "handcuffs", "police badge", "holding cell", "fingerprint kit", "detective", "patrol car",
        "mugshot", "police radio", "whistle", "lost dog",
    ),
    "post office": (
        "parcel", "stamp", "letter", "postbox", "postcard", "envelope", "mail bag", "postman",
        "sealing wax", "parcel scale",
    ),
    "restaurant": (
        "menu", "waiter", "wine glass", "napkin", "soup bowl", "chef", "dessert trolley",
        "tablecloth", "salad", "dining table",
    ),
    "stable": (
        "horseshoe", "pony", "bridle", "straw", "riding boots", "groom", "hay net", "stirrup",
        "horse blanket", "manure fork",
    ),
    "swimming pool": (
        "diving board", "swimsuit", "goggles", "water slide", "swimming cap", "pool float",
        "lifeguard", "changing room", "chlorine", "lane rope",
    ),
    "tailor shop": (
        "sewing machine", "needle", "thread", "tape measure", "silk", "button box", "scissors",
        "dress form", "waistcoat", "pin cushion",
    ),
    "theatre": (
        "stage", "curtain", "spotlight", "costume", "script", "actor", "orchestra pit", "mask",
        "stage prop", "opera glasses",
    ),
    "train station": (
        "platform", "locomotive", "station clock", "rail track", "conductor", "signal box",
        "railway map", "luggage locker", "ticket barrier", "dining car",
    ),
    "workshop": (
        "hammer", "saw", "nail box", "vice", "wood plane", "sandpaper", "chisel", "drill",
        "glue pot", "sawdust",
    ),
    "zoo": (
        "lion", "elephant", "monkey", "giraffe", "zookeeper", "parrot", "bear", "feeding bowl",
        "zebra", "snake",
    ),
}  # fmt: skip

RELATIONS: tuple[str, ...] = (
    "is beside", "is behind", "is in front of", "is near", "is left of", "is right of",
    "is opposite", "is above", "is below", "belongs with", "comes before", "comes after",
    "points to", "is tied to", "is as old as", "is larger than",
)  # fmt: skip

CONSTRAINTS: tuple[str, ...] = (
    "closed after dark", "keep your voice down", "one visitor at a time", "no running",
    "wipe your feet first", "pay at the entrance", "do not touch anything", "no open flames",
    "leave the door open", "shut the door behind you", "take nothing away", "stay on the path",
    "wait for your turn", "hands must be clean", "no dogs allowed", "no photographs",
    "keep to the right", "ask before you enter", "carry no food", "hold on to the rail",
    "bags stay outside", "mind the step", "be gone by noon", "children must be accompanied",
    "only by daylight", "do not block the way", "sign the visitor list", "wear sturdy shoes",
    "turn off the light when leaving", "speak to the keeper first", "no shortcuts", "keep it dry",
)  # fmt: skip

# What an action that leads towards a place or a thing is called.
TOWARDS_PLACE: tuple[str, ...] = (
    "walk to the {}", "head for the {}", "take the road to the {}", "follow the sign to the {}",
    "cross over to the {}",
)  # fmt: skip
TOWARDS_THING: tuple[str, ...] = (
    "look for the {}", "ask about the {}", "go and see the {}", "fetch the {}", "search for the {}",
)  # fmt: skip

# Where all states look alike, no action can hint at where it leads.
BLIND_ACTIONS: tuple[str, ...] = (
    "take the left path", "take the middle path", "take the right path",
)  # fmt: skip
