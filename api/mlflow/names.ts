import { BoundedMap } from "../../core/bounded-map";

/** Matches a name of a param, a metric or a tag (`mlflow/utils/validation.py`). */
const permitted = /^[/\p{L}\p{N}_.\- :]*$/u;

/** Returns the rule that a name breaks. Valid names are cached, because each batch repeats them. */
export function problemOfName(name: string): string | undefined {
  if (validNames.has(name)) return undefined;
  if (name === "__proto__") return "Names must not be __proto__, which a JavaScript object cannot have as a key.";
  if (!permitted.test(name)) {
    return "Names may only contain alphanumerics, underscores (_), dashes (-), periods (.), spaces ( ), colon(:) and slashes (/).";
  }
  const normal = normalPath(name);
  if (normal !== name || normal === "." || normal.startsWith("..") || normal.startsWith("/")) {
    return `Names may be treated as files in certain cases, and must not resolve to other names when treated as such. This name would resolve to '${normal}'`;
  }
  validNames.set(name, true);
  return undefined;
}

const maxKnown = 10_000;
const validNames = new BoundedMap<string, true>(maxKnown);

/** Normalises a path as Python's `posixpath.normpath` does. */
export function normalPath(path: string): string {
  if (path === "") return ".";
  const root = path.startsWith("//") && !path.startsWith("///") ? "//" : path.startsWith("/") ? "/" : "";
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== ".." || (root === "" && parts.length === 0) || parts.at(-1) === "..") parts.push(part);
    else parts.pop();
  }
  return root + parts.join("/") || ".";
}

/** Compares lengths in code points. */
export function isLongerThan(text: string, limit: number): boolean {
  return text.length > limit && (text.length > 2 * limit || [...text].length > limit);
}

export function truncated(text: string, limit: number): string {
  return isLongerThan(text, limit) ? [...text.slice(0, 2 * limit)].slice(0, limit).join("") : text;
}

const adjectives =
  "able amber apt bold brave bright brisk calm clean clever crisp daring deft eager fair fast fine fond gentle glad grand handy honest keen kind light lively lucky merry mild neat nimble noble open patient plain polite proud quick quiet rapid rare ready rich shy silent sleek smart smooth spry steady stout swift tidy trim true vast warm wise witty".split(
    " ",
  );
const nouns =
  "ant bat bear bee boar bug calf carp cat cod colt conch cow crab crane croc crow cub deer doe dog dove duck eel elk fawn finch fish flea fly foal fowl fox frog gnat goat goose grouse grub gull hare hawk hen hog horse hound jay kit kite koi lamb lark loon lynx mare midge mink mole moose moth mouse mule newt owl ox panda penguin perch pig pug quail ram rat ray robin roo rook seal shad shark sheep shoat shrew shrike shrimp skink skunk sloth slug smelt snail snake snipe sow sponge squid squirrel stag steed stoat stork swan tern toad trout turtle vole wasp whale wolf worm wren yak zebra".split(
    " ",
  );

/** Generates a name for a run without one: `quiet-owl-271`. @param random returns 0 ≤ r < 1 */
export function randomName(random: () => number): string {
  const pick = (words: readonly string[]): string => words[Math.floor(random() * words.length)]!;
  return `${pick(adjectives)}-${pick(nouns)}-${Math.floor(random() * 1000)}`;
}
