import { Database } from "node-sqlite3-wasm";

const tables = `
  CREATE TABLE version_info (schema_version INTEGER);
  CREATE TABLE studies (study_id INTEGER, study_name TEXT);
  CREATE TABLE study_directions (direction TEXT, study_id INTEGER, objective INTEGER);
  CREATE TABLE trials (trial_id INTEGER, number INTEGER, study_id INTEGER, state TEXT);
  CREATE TABLE trial_params (trial_id INTEGER, param_name TEXT, param_value FLOAT, distribution_json TEXT);
  CREATE TABLE trial_values (trial_id INTEGER, objective INTEGER, value FLOAT, value_type TEXT);
  CREATE TABLE trial_intermediate_values
    (trial_id INTEGER, step INTEGER, intermediate_value FLOAT, intermediate_value_type TEXT);
  CREATE TABLE trial_system_attributes (trial_id INTEGER, key TEXT, value_json TEXT);
`;

/** A study with trials of every state, of which two can be imported. */
export const rates = `
  INSERT INTO studies VALUES (1, 'rates');
  INSERT INTO study_directions VALUES ('MINIMIZE', 1, 0);
  INSERT INTO trials VALUES (10, 1, 1, 'PRUNED'), (11, 0, 1, 'COMPLETE'), (12, 2, 1, 'FAIL'), (13, 3, 1, 'RUNNING'),
    (14, 4, 1, 'COMPLETE');
  INSERT INTO trial_params VALUES
    (11, 'rate', 0.01, '{"name": "FloatDistribution", "attributes": {"low": 1e-4, "high": 0.1, "log": true, "step": null}}'),
    (11, 'units', 48.0, '{"name": "IntDistribution", "attributes": {"low": 8, "high": 64, "log": false, "step": 8}}'),
    (11, 'kind', 1.0, '{"name": "CategoricalDistribution", "attributes": {"choices": ["sgd", "adam"]}}'),
    (10, 'rate', 0.02, '{"name": "LogUniformDistribution", "attributes": {"low": 1e-4, "high": 0.1}}'),
    (10, 'decay', 0.5, '{"name": "DiscreteUniformDistribution", "attributes": {"low": 0, "high": 1, "q": 0.25}}');
  INSERT INTO trial_values VALUES (11, 0, 0.25, 'FINITE'), (14, 0, NULL, 'INF_POS');
  INSERT INTO trial_intermediate_values VALUES
    (10, 2, 0.5, 'FINITE'), (10, 1, 0.75, 'FINITE'), (10, 3, NULL, 'NAN');
`;

export function createOptunaDatabase(path: string, sql: string, version = 12): void {
  const database = new Database(path);
  database.exec(`${tables} INSERT INTO version_info VALUES (${version}); ${sql}`);
  database.close();
}
