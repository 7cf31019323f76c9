// The texts of the drawings. English is written where it is shown; a host that speaks another language gives a table.

const tables = [{}];

/** table: {"English text": "the same in another language"}; {} for English. */
export function useWording(table) {
  tables[0] = table;
}

/** {name} in the text stands for values.name; so a translation may put it elsewhere. */
export function say(text, values = {}) {
  const found = Object.hasOwn(tables[0], text) ? tables[0][text] : text;
  return found.replace(/\{(\w+)\}/g, (whole, name) => (Object.hasOwn(values, name) ? values[name] : whole));
}
