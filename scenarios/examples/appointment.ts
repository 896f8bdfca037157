// Dial 509: offers the next day with somebody there; 1 takes it. It shares hours.ts with opening.ts.
import { nextDay } from './hours.ts';

export default async function (call: Call) {
  await call.answer();
  const day = nextDay(Date.now());
  const { digits } = await call.collect({ prompt: 'menu.wav', max: 1, timeout: '5s' });
  await call.play(digits === '1' ? 'choice-1.wav' : 'goodbye.wav');
  return { day, taken: digits === '1' };
}
