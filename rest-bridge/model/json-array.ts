/** Writes long lists as streams. */
import { setImmediate as turn } from 'node:timers/promises';

/** Number of items written before yielding to other work. */
const PART = 100;

/** A JSON array as a stream of text, produced as its reader consumes it. */
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
