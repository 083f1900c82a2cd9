const adjectives =
  "able amber apt bold brave bright brisk calm clean clever crisp daring deft eager fair fast fine fond gentle glad grand handy honest keen kind light lively lucky merry mild neat nimble noble open patient plain polite proud quick quiet rapid rare ready rich shy silent sleek smart smooth spry steady stout swift tidy trim true vast warm wise witty".split(
    " ",
  );
const nouns =
  "ant bat bear bee boar bug calf carp cat cod colt conch cow crab crane croc crow cub deer doe dog dove duck eel elk fawn finch fish flea fly foal fowl fox frog gnat goat goose grouse grub gull hare hawk hen hog horse hound jay kit kite koi lamb lark loon lynx mare midge mink mole moose moth mouse mule newt owl ox panda penguin perch pig pug quail ram rat ray robin roo rook seal shad shark sheep shoat shrew shrike shrimp skink skunk sloth slug smelt snail snake snipe sow sponge squid squirrel stag steed stoat stork swan tern toad trout turtle vole wasp whale wolf worm wren yak zebra".split(
    " ",
  );

/** What a run is called whose maker says no name: `quiet-owl-271`. @param random 0 ≤ r < 1, each call anew */
export function randomName(random: () => number): string {
  const pick = (words: readonly string[]): string => words[Math.floor(random() * words.length)]!;
  return `${pick(adjectives)}-${pick(nouns)}-${Math.floor(random() * 1000)}`;
}
