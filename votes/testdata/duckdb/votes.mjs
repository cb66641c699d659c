// node votes.mjs MODULE FOLDER: DuckDB writes votes into files of a folder, and prints how many votes of each
// value it reads in them: {file: {value: count}}.
import { join } from 'node:path';
const [module, folder] = process.argv.slice(2);
const { DuckDBInstance } = await import(module);
const db = await (await DuckDBInstance.create(':memory:')).connect();
const bit = seed => `(hash(i * 7 + ${seed}) % 2)`;
const word = seed => `['cat', 'dog', 'emu'][(1 + hash(i * 5 + ${seed}) % 3)::BIGINT]`;
const columns = cell => [1, 2, 3, 4].map(t => `${cell(t)} AS t${t}`).join(', ');
const sometimes = cell => t => `CASE WHEN hash(i + 11 * ${t}) % 6 = 0 THEN NULL ELSE ${cell(t)} END`;
await db.run(`CREATE TYPE animal AS ENUM ('cat', 'dog', 'emu')`);
const kinds = {
  tinyint: columns(t => `${bit(t)}::TINYINT`),
  ubigint: columns(t => `${bit(t)}::UBIGINT`),
  bigint: columns(sometimes(t => `${bit(t)}::BIGINT`)),
  double: columns(sometimes(t => `${bit(t)}::DOUBLE`)),
  boolean: columns(sometimes(t => `${bit(t)} = 1`)),
  words: columns(sometimes(word)),
  enum: columns(t => `${word(t)}::animal`),
  list: `[${[1, 2, 3].map(bit).join(', ')}]::INTEGER[] AS votes`,
};
const forms = [['parquet', 'FORMAT parquet'], ['zstd.parquet', 'FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 2048'],
  ['csv', 'FORMAT csv, HEADER'], ['semicolon.csv', `FORMAT csv, HEADER, DELIMITER ';', FORCE_QUOTE *`], ['tsv', `FORMAT csv, HEADER, DELIMITER '\t'`],
  ['jsonl', 'FORMAT json'], ['jsonl.gz', 'FORMAT json, COMPRESSION gzip']];
const answers = {};
for (const [kind, votes] of Object.entries(kinds)) {
  for (const [ending, options] of forms) {
    if (kind === 'list' && ending.endsWith('sv')) continue; // a list is no cell of text
    const file = join(folder, `${kind}.${ending}`);
    await db.run(`COPY (SELECT i AS id, ${votes} FROM range(5000) r(i)) TO '${file}' (${options})`);
    const cells = kind === 'list' ? 'unnest(votes)' : 'unnest([t1::VARCHAR, t2::VARCHAR, t3::VARCHAR, t4::VARCHAR])';
    const read = ending.endsWith('sv') ? `read_csv('${file}', all_varchar = true)` : `'${file}'`;
    const rows = await db.runAndReadAll(`SELECT v, count(*)::INTEGER FROM (SELECT (${cells})::VARCHAR AS v FROM ${ending.includes('jsonl') ?
      `read_json('${file}', format = 'newline_delimited')` : read}) GROUP BY v`);
    // A number of Parquet has no text.
    const shown = v => ending.endsWith('parquet') ? v.replace(/\.0$/, '') : v;
    answers[`${kind}.${ending}`] = Object.fromEntries(rows.getRows().map(([v, n]) => [shown(v ?? ''), n]));
  }
}
console.log(JSON.stringify(answers));
