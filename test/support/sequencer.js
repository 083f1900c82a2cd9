const path = require("node:path");
const Sequencer = require("@jest/test-sequencer").default;

/**
 * Files that take longest, first in order: one that began last would keep one worker busy after the others are done. A
 * fresh clone has no durations of its own; Jest would go by the size of files.
 */
const longest = [
  "e2e/spine",
  "e2e/newcomer",
  "e2e/policy",
  "e2e/teams",
  "trainer/process/processes",
  "e2e/user-code",
  "e2e/triggers",
  "e2e/reproduce",
  "peers/hostile-page",
  "peers/cfn-lint",
  "e2e/bad-input",
  "e2e/cli",
  "e2e/restore",
  "trainer/process/pause",
  "e2e/study",
  "trainer/process/interruptions",
  "trainer/loop/native-worlds",
  "trainer/process/early-stopping",
  "trainer/engine/rematerialise",
  "cli/doctor/doctor",
  "infra/platform",
  "trainer/loop/sharded",
].map((name) => path.join(__dirname, "..", `${name}.test.ts`));

module.exports = class extends Sequencer {
  sort(tests) {
    const place = ({ path: file }) => (longest.includes(file) ? longest.indexOf(file) : longest.length);
    return [...super.sort(tests)].sort((one, other) => place(one) - place(other));
  }
};
