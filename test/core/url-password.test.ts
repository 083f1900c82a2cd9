import { hidePassword } from "../../core/url-password";

it.each([
  ["see https://u:p@h/x", "see https://u:***@h/x"],
  ["(GIT+SSH://u%3Ap@h)", "(GIT+SSH://u:***@h)"],
  ["s3://:p@h?sslPassword=q&a=b", "s3://:***@h?sslPassword=***&a=b"],
  ["https://h:80/a@b", "https://h:80/a@b"],
])("%s is shown as %s", (text, shown) => expect(hidePassword(text)).toBe(shown));

it.each(["metrics.", "a:", "a://", "a://b:", "?password"])("long texts of %p are searched at once", (part) => {
  const text = part.repeat(200_000 / part.length);
  const start = performance.now();
  expect(hidePassword(text)).toBe(text);
  expect(performance.now() - start).toBeLessThan(2_000);
});
