// counts.mjs MODULE FILE COLUMN…: counts the texts of the cells, and of the items of lists, in columns of a
// Parquet file that the reader at MODULE reads.
const [module, file, ...columns] = process.argv.slice(2);
const { asyncBufferFromFile, parquetReadObjects } = await import(module);
const count = {};
const add = (v) => { const text = v == null ? "" : String(v); count[text] = (count[text] ?? 0) + 1; };
for (const row of await parquetReadObjects({ file: await asyncBufferFromFile(file), columns }))
  for (const name of columns) Array.isArray(row[name]) ? row[name].forEach(add) : add(row[name]);
console.log(JSON.stringify(count));
