import { setImmediate as turn } from 'node:timers/promises';

/** Items that are written at once: between two batches others have their turn. */
const BATCH = 100;

/** A JSON array as text, bit by bit: as much as its reader takes is made. */
export async function* jsonArray(items: Iterable<unknown>): AsyncGenerator<string> {
  let text = '[';
  let count = 0;
  for (const item of items) {
    text += `${count === 0 ? '' : ','}${JSON.stringify(item)}`;
    count += 1;
    if (count % BATCH !== 0) continue;
    yield text;
    text = '';
    await turn();
  }
  yield `${text}]`;
}
