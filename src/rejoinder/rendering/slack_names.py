"""Slack's short names: the first alias of the emoji package, a few rules, and the exceptions.

Slack uses the names of iamcal's emoji-data. Seven in ten are the package's first alias; families of
others follow a rule; the rest are in the table.
"""

from collections.abc import Sequence
from functools import cache

_KNOWN_VERSION = 16  # the latest Emoji version in Slack's names
_HAIR = "🦰🦱🦲🦳"  # occurs as a part of other emoji only, and has no name there

_WORKERS = "👨👩👮👷💂🕵"
_BEINGS = "🦸🦹🧙🧚🧛🧝🧞🧟"
_FIRST_REGION, _LAST_REGION = "🇦", "🇿"


def slack_name(bare: str, names: Sequence[str], version: float) -> str | None:
    """Slack's name for an emoji without variation selectors, or None if it has none.

    `names`: those of the package, aliases first and the English name last. `version`: the Emoji version.
    """
    if version > _KNOWN_VERSION or bare in _HAIR:
        return None
    if exception := slack_exceptions().get(bare):
        return exception
    if all(_FIRST_REGION <= letter <= _LAST_REGION for letter in bare):
        return "flag-" + "".join(chr(ord(letter) - ord(_FIRST_REGION) + ord("a")) for letter in bare)
    english = names[-1].lower()
    if "\u200d" in bare and version < 5:  # the sequences of the early years have hyphens
        if bare[0] in _WORKERS:
            english = _by_sex(english)
        return english.removeprefix("family_").replace("_", "-")
    if bare.endswith(("♀", "♂")):
        return _by_sex(english) if bare[0] in _BEINGS else english
    if "🟠" <= bare <= "🟫":
        return f"large_{english}"
    return names[0]


def _by_sex(english: str) -> str:
    for ours, slacks in (("woman_", "female_"), ("man_", "male_")):
        if english.startswith(ours):
            return slacks + english.removeprefix(ours)
    return english


@cache
def slack_exceptions() -> dict[str, str]:
    """The names that do not follow the rules, by bare emoji."""
    words = _EXCEPTIONS.split()
    return dict(zip(words[::2], words[1::2], strict=True))


_EXCEPTIONS = """
*⃣ keycap_star  🇨🇶 flag-sark  🌤 mostly_sunny  🌥 barely_sunny  🌦 partly_sunny_rain  🌧 rain_cloud
🌨 snow_cloud  🌩 lightning  🌪 tornado  🍊 tangerine  🍳 fried_egg  🍽 knife_fork_plate  🎖 medal
🎞 film_frames  🎟 admission_tickets  🏅 sports_medal  🏋 weight_lifter  🏌 golfer
🏔 snow_capped_mountain  🏖 beach_with_umbrella  🏴󠁧󠁢󠁥󠁮󠁧󠁿 flag-england  🏴󠁧󠁢󠁳󠁣󠁴󠁿 flag-scotland
🏴󠁧󠁢󠁷󠁬󠁳󠁿 flag-wales  🐞 ladybug  🐦‍⬛ black_bird  👊 facepunch  👨‍⚕ male-doctor  👨‍❤‍👨 man-heart-man
👨‍❤‍💋‍👨 man-kiss-man  👩‍⚕ female-doctor  👩‍❤‍👨 woman-heart-man  👩‍❤‍👩 woman-heart-woman
👩‍❤‍💋‍👨 woman-kiss-man  👩‍❤‍💋‍👩 woman-kiss-woman  👯‍♀ women-with-bunny-ears-partying
👯‍♂ men-with-bunny-ears-partying  👰 bride_with_veil  👱‍♀ blond-haired-woman  👱‍♂ blond-haired-man
👱 person_with_blond_hair  👳 man_with_turban  💁 information_desk_person  💂 guardsman
📡 satellite_antenna  📧 e-mail  📸 camera_with_flash  🔟 keycap_ten
🕴 man_in_business_suit_levitating  🖇 linked_paperclips  🖕 middle_finger  🖖 spock-hand
🗳 ballot_box_with_ballot  🙄 face_with_rolling_eyes  🙆 ok_woman  🙍 person_frowning
🙎 person_with_pouting_face  🚱 non-potable_water  🛌 sleeping_accommodation  🛍 shopping_bags
🛑 octagonal_sign  🛒 shopping_trolley  🛫 airplane_departure  🛰 satellite  🛴 scooter
🤔 thinking_face  🤘 the_horns  🤛 left-facing_fist  🤜 right-facing_fist  🤟 i_love_you_hand_sign
🤠 face_with_cowboy_hat  🤣 rolling_on_the_floor_laughing  🤦 face_palm  🤨 face_with_raised_eyebrow
🤩 star-struck  🤬 face_with_symbols_on_mouth  🤭 face_with_hand_over_mouth  🤮 face_vomiting
🤱 breast-feeding  🤸 person_doing_cartwheel  🤹 juggling  🤺 fencer  🤼‍♀ woman-wrestling
🤼‍♂ man-wrestling  🤼 wrestlers  🤾 handball  🥁 drum_with_drumsticks  🥇 first_place_medal
🥈 second_place_medal  🥉 third_place_medal  🥚 egg  🥛 glass_of_milk  🥝 kiwifruit
🥰 smiling_face_with_3_hearts  🥿 womans_flat_shoe  🦍 gorilla  🦒 giraffe_face  🦓 zebra_face
🧀 cheese_wedge  🧉 mate_drink  🧐 face_with_monocle  🧑‍🦰 red_haired_person  🧑‍🦱 curly_haired_person
🧑‍🦲 bald_person  🧑‍🦳 white_haired_person  🧔‍♀ woman_with_beard  🧔‍♂ man_with_beard
🧕 person_with_headscarf  🧖 person_in_steamy_room  🧗 person_climbing  🧘 person_in_lotus_position
🩱 one-piece_swimsuit  🩲 briefs  🩻 x-ray  🪀 yo-yo  ⏏ eject
⏮ black_left_pointing_double_triangle_with_vertical_bar  ☂ umbrella  ☃ snowman
☔ umbrella_with_rain_drops  ⛄ snowman_without_snow  ⛱ umbrella_on_ground  ⛹ person_with_ball
❣ heavy_heart_exclamation_mark_ornament
"""
