import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Database } from "node-sqlite3-wasm";
import { readOptunaStudy } from "../../cli/commands/study-import";
import { createOptunaDatabase, rates } from "../support/optuna";
import { temporaryFolder } from "../support/temporary-folder";

const front = `
  INSERT INTO studies VALUES (2, 'front');
  INSERT INTO study_directions VALUES ('MAXIMIZE', 2, 1), ('MINIMIZE', 2, 0);
  INSERT INTO trials VALUES (20, 0, 2, 'COMPLETE');
  INSERT INTO trial_values VALUES (20, 1, 2.0, 'FINITE'), (20, 0, 1.0, 'FINITE');
  INSERT INTO trial_system_attributes VALUES (20, 'constraints', '[-1.5]');
`;

describe("an Optuna database", () => {
  const directory = temporaryFolder("optuna");
  let files = 0;
  const file = (sql: string, version = 12): string => {
    files += 1;
    const path = join(directory, `${files}.db`);
    createOptunaDatabase(path, sql, version);
    return path;
  };

  it("gives its ended trials, with parameters of every kind and reports by epoch", async () => {
    expect(await readOptunaStudy(file(rates))).toEqual({
      trials: {
        format: "ringmaster/trials@1",
        study: "rates",
        directions: ["minimize"],
        trials: [
          { state: "completed", values: [0.25], params: { rate: 0.01, units: 48, kind: "adam" }, reports: [] },
          {
            state: "stopped",
            params: { rate: 0.02, decay: 0.5 },
            reports: [
              { epoch: 1, value: 0.75 },
              { epoch: 2, value: 0.5 },
            ],
          },
        ],
      },
      parameters: {
        rate: { type: "float", low: 1e-4, high: 0.1, log: true },
        units: { type: "int", low: 8, high: 64, log: false, step: 8 },
        kind: { type: "categorical", choices: ["sgd", "adam"] },
        decay: { type: "float", low: 0, high: 1, log: false, step: 0.25 },
      },
      uses: { rate: 2, units: 1, kind: 1, decay: 1 },
      leftOut: { fail: 1, running: 1, complete: 1 },
    });
  });

  it("with several studies gives the one that is named, with objectives in order and constraints", async () => {
    const { trials } = await readOptunaStudy(file(rates + front), "front");
    expect(trials).toMatchObject({
      directions: ["minimize", "maximize"],
      trials: [{ values: [1, 2], constraints: [-1.5] }],
    });
  });

  it.each([
    ["several studies, none named", () => file(rates + front), undefined, "name one with --study: rates, front"],
    ["no such study", () => file(rates), "rate", 'has no study "rate"; name one with --study: rates'],
    ["no study", () => file(""), undefined, "has no study"],
    ["no ended trial", () => file(front.replace("'COMPLETE'", "'WAITING'")), undefined, "no completed or pruned trial"],
    ["another schema version", () => file(rates, 11), undefined, "schema version 11, but only 12 can be read"],
    ["an unknown distribution", () => file(rates.replace("IntDistribution", "Odd")), undefined, "distribution Odd"],
    ["no file", () => join(directory, "none.db"), undefined, "must be a readable file"],
    ["a folder", () => directory, undefined, "must be a readable file"],
  ])("is refused: %s", async (_name, path, study, message) => {
    await expect(readOptunaStudy(path(), study)).rejects.toMatchObject({
      code: "INVALID_INPUT",
      message: expect.stringContaining(message),
    });
  });

  it("is refused if it is another file, another database, or has changes that are not written yet", async () => {
    const text = join(directory, "text.db");
    writeFileSync(text, "not a database, but long enough to be read as one".repeat(100));
    await expect(readOptunaStudy(text)).rejects.toThrow("must be an SQLite database");
    const other = new Database(join(directory, "other.db"));
    other.exec("CREATE TABLE studies (study_id INTEGER)");
    other.close();
    await expect(readOptunaStudy(join(directory, "other.db"))).rejects.toThrow(
      "must be a database of Optuna; it has no table version_info, trials, trial_params, trial_values",
    );
    const open = file(rates);
    writeFileSync(`${open}-wal`, "frames");
    await expect(readOptunaStudy(open)).rejects.toThrow(`has changes in ${open}-wal`);
  });
});
