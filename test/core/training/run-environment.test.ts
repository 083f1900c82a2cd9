import { runEnvironment } from "../../../core/training/submit";

const digest = `sha256:${"ab".repeat(32)}`;
const built = "123456789012.dkr.ecr.eu-west-1.amazonaws.com/cdk-assets:6dbbf4b53e1ad9d1";

it.each([
  ["nothing is known", undefined, undefined, undefined],
  ["its submitter alone tells of it", { lockfileSha256: "c0" }, undefined, { lockfileSha256: "c0" }],
  ["an image that the deployment built: no digest", undefined, built, { image: built }],
  [
    "an image by its digest",
    undefined,
    `ecr/trainer@${digest}`,
    { image: `ecr/trainer@${digest}`, imageDigest: digest },
  ],
  [
    "both: the deployment knows better",
    { lockfileSha256: "c0", imageDigest: "sha256:else" },
    `ecr/trainer:1.2@${digest}`,
    { lockfileSha256: "c0", image: `ecr/trainer:1.2@${digest}`, imageDigest: digest },
  ],
  [
    "a digest that its submitter tells, of an image by its tag",
    { imageDigest: digest },
    built,
    { image: built, imageDigest: digest },
  ],
  [
    "the run that it follows had another image",
    { image: "ecr/trainer:1" },
    "ecr/trainer:2",
    { image: "ecr/trainer:2" },
  ],
  ["the run that it follows had one, and here is none", { image: "ecr/trainer:1" }, undefined, undefined],
])("%s", (_what, given, image, made) => {
  expect(runEnvironment(given, image)).toEqual(made);
});
