// Dial 508: says whether somebody is there. It shares hours.ts with appointment.ts.
import { isOpen } from './hours.ts';

export default async function (call: Call) {
  await call.answer();
  const open = isOpen(Date.now());
  await call.play(open ? 'welcome.wav' : 'goodbye.wav');
  return { open };
}
