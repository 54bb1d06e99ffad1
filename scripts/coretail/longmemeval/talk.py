"""Small talk: what is said in a generated haystack without bearing on any question.

It holds no digits, no names and no dates; what it has in common with a question's subject is
sorted out when a haystack is filled.
"""

LEADS: tuple[str, ...] = (
    "By the way, {}", "Oh, and {}", "Just so you know, {}", "Before I forget: {}",
    "A little news from my side: {}", "I should mention that {}", "As for me, {}", "You know, {}",
)  # fmt: skip
"""How a statement follows a request."""

ACKNOWLEDGEMENTS: tuple[str, ...] = (
    "Thanks for telling me, that is good to know.",
    "That sounds like a fine thing.",
    "I can see why you bring that up.",
    "How nice, I hope you enjoy it.",
    "Good for you!",
    "I will keep that in mind.",
)

ADVICE: tuple[str, ...] = (
    "As for your question, start with something small, see how it feels after a few tries, and "
    "only then decide whether you want more of it.",
    "To come back to what you asked, write down what matters most to you, and let the rest wait "
    "until you have dealt with that.",
    "On your question, most people do best with a simple rule that they can follow without "
    "thinking. Make it easy to begin and hard to forget.",
    "Regarding your request, I would set a fixed moment for it, remove whatever distracts you, and "
    "be generous with yourself when it does not work out.",
    "For what you want to know, there is no single answer, but it helps to look at what worked for "
    "you before and to do a little more of it.",
)

CLOSINGS: tuple[tuple[str, str], ...] = (
    ("Thank you, that helps.", "You are welcome. Let me know how it goes."),
    ("I will think about it.", "Take your time, there is no hurry at all."),
    ("That makes sense to me.", "I am glad to hear it."),
    ("All right, I will try that.", "Good luck, and have fun with it."),
)

TOPICS: tuple[tuple[tuple[str, str], ...], ...] = (
    (
        ("Why is the sky blue and not violet?",
         "Air scatters short waves more than long ones. Violet is scattered even more than blue, "
         "but the sun sends less of it and our eyes see it poorly."),
        ("And why is it red at dusk?",
         "Low light travels through much more air, so that most of the blue is lost on its way and "
         "the warm tones remain."),
    ),
    (
        ("How does a rainbow form?",
         "Light is bent when it enters a drop, thrown back from its far side, and bent again when "
         "it leaves. Each tone leaves at an angle of its own."),
        ("Can one ever reach its end?",
         "No, since a rainbow is no thing in a place. It moves with whoever looks at it."),
    ),
    (
        ("Could you explain how noise-cancelling works?",
         "A tiny sensor picks up the sound around you, and the speaker plays its mirror image, so "
         "that the two waves cancel where your ear is."),
        ("So why do I still hear voices?",
         "Speech changes quickly, and the circuit is best at steady sounds such as engines."),
    ),
    (
        ("What is a polite way to decline an invitation?",
         "Thank them first, say plainly that you cannot come, and wish them a lovely evening. A "
         "long excuse is not needed."),
        ("What if they keep asking?",
         "Repeat your answer kindly in the same words. Most people understand then."),
    ),
    (
        ("Please help me with a toast for a retirement party.",
         "Begin with a short story that shows what everyone values in the person, add a wish for "
         "the time ahead, and raise your glass before people get thirsty."),
        ("Should it be funny?",
         "A gentle joke is welcome, as long as the one being honoured would laugh first."),
    ),
    (
        ("What is the difference between a comet and an asteroid?",
         "A comet is icy and grows a tail when the sun warms it. An asteroid is rocky and stays "
         "as it is."),
        ("Can one see them without instruments?",
         "A bright comet, yes, every few years. Asteroids are nearly always too faint."),
    ),
    (
        ("My internet connection drops every evening. What could it be?",
         "Evenings are busy. Check whether a cable is loose, restart the router, and see whether "
         "a different channel helps."),
        ("How do I change the channel?",
         "Open the router's settings in a browser and look for the wireless page; there is a list "
         "to choose from."),
    ),
    (
        ("Can you suggest a warm-up for public speaking?",
         "Hum for a moment, read a tongue twister aloud, roll your shoulders, and say your opening "
         "sentence until it feels dull."),
        ("My hands always tremble.",
         "Hold a card or rest them on the lectern. The trembling fades once you are under way."),
    ),
    (
        ("What does the word serendipity mean?",
         "A happy discovery that one makes by accident while looking for something else."),
        ("Is there a verb for it?",
         "Not a common one. People say that they stumbled upon something."),
    ),
    (
        ("I need a riddle for the office newsletter.",
         "What has many keys and opens no door? A piano. It is old, but it still works."),
        ("Another one, a harder one?",
         "The more you take, the more you leave behind. The answer is footsteps."),
    ),
    (
        ("How do noise levels affect concentration?",
         "Steady murmur hardly matters, while sudden sounds and speech that one can follow pull "
         "attention away."),
        ("Does music help?",
         "For dull tasks it often does. For reading, quiet is better for most people."),
    ),
    (
        ("Why do cats purr?",
         "They purr when content, and also when hurt or afraid. It may calm them and help them "
         "heal."),
        ("Do lions purr too?",
         "Not in the same way. Those that roar cannot purr on every breath."),
    ),
    (
        ("What is a good first exercise in mindfulness?",
         "Sit down, follow your breath, and name each thought as it comes before you let it go."),
        ("I keep falling asleep.",
         "Then do it standing up, or with your eyes open and resting on one spot."),
    ),
    (
        ("Explain compound interest to me as if I were a child.",
         "You lend your friend some marbles. Each week the pile earns a few new ones, and the new "
         "ones earn marbles as well."),
        ("So the pile grows faster and faster?",
         "Exactly, slowly at the beginning and then surprisingly fast."),
    ),
    (
        ("How can I get rid of hiccups?",
         "Hold your breath for a while, sip cold water, or swallow a spoonful of sugar. One of "
         "these usually ends them."),
        ("Why do we have them at all?",
         "Nobody is quite sure. They may be left over from how our distant ancestors breathed."),
    ),
    (
        ("What makes a haiku a haiku?",
         "It is short, it points at a season, and it sets two images side by side without "
         "explaining either."),
        ("Does counting syllables matter?",
         "Less than people think. The cut between the images matters more."),
    ),
    (
        ("How do tides work?",
         "The moon pulls the near side of the sea more than the far side, and the water is "
         "stretched into two bulges beneath which the earth turns."),
        ("Why are some tides larger?",
         "When sun and moon stand in line, their pulls add up."),
    ),
    (
        ("Is it rude to correct someone's grammar?",
         "In front of others it usually is. In a text that they asked you to check, it is a "
         "kindness."),
        ("What about my boss?",
         "Mention it privately, once, and as a question."),
    ),
    (
        ("What should go into a first-aid box?",
         "Plasters, bandages, a disinfectant, tweezers, scissors, gloves, and a list of phone "
         "numbers that everyone can read."),
        ("How often do I have to check it?",
         "Twice a year is enough, and each time that you have used something."),
    ),
    (
        ("Why do onions make people cry?",
         "Cutting them sets free a gas that turns into a mild acid in the eye, which waters to "
         "wash it out."),
        ("Any way around it?",
         "A sharp blade and a cold onion help the most."),
    ),
    (
        ("What is the best way to remember names?",
         "Say the name at once, link it with something you see, and use it when you part."),
        ("I forget them within seconds.",
         "Then you are probably planning your own next sentence. Listen first."),
    ),
    (
        ("How do I write a clear subject line?",
         "Say what the message asks for and by when. Everything else can stand in the text."),
        ("How long may it be?",
         "Short enough to be read on a phone without scrolling."),
    ),
    (
        ("Do plants really grow better with talking?",
         "Hardly. But whoever talks to them also looks at them, and sees early what they lack."),
        ("So it helps after all?",
         "In a roundabout way, it does."),
    ),
    (
        ("What is an earworm, and how do I stop it?",
         "A tune that goes round in the head. Listening to it once to the end often breaks the "
         "loop."),
        ("And if that fails?",
         "Chewing gum is said to help, since it keeps the inner voice busy."),
    ),
)  # fmt: skip
"""Per topic, exchanges of user and assistant that follow each other."""
