import { setImmediate as turn } from 'node:timers/promises';

/** Items that are written at once: between two such parts others have their turn. */
const PART = 100;

/** A JSON array as text, bit by bit: as much as its reader takes is made. */
export async function* jsonArray(batches: AsyncIterable<readonly unknown[]>): AsyncGenerator<string> {
  let text = '[';
  let count = 0;
  for await (const batch of batches) {
    for (const item of batch) {
      text += `${count === 0 ? '' : ','}${JSON.stringify(item)}`;
      count += 1;
      if (count % PART !== 0) continue;
      yield text;
      text = '';
      await turn();
    }
  }
  yield `${text}]`;
}
