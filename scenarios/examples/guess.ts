// Dial 505: a game, written as a module. The caller guesses a number from 1 to 9, three times.
export default async function (call: Call, args: { secret?: string }) {
  const secret = args.secret ?? String(1 + Math.floor(Math.random() * 9));
  await call.answer();
  await call.play({ file: 'welcome.wav' });
  for (let tries = 1; tries <= 3; tries += 1) {
    const { digits } = await call.collect({ prompt: 'tone:%(300,0,1000)', max: 1, timeout: '5s' });
    if (digits === secret) {
      await call.play('choice-1.wav');
      return { won: true, tries };
    }
    await call.play('invalid.wav');
  }
  await call.play('goodbye.wav');
  return { won: false, tries: 3 };
}
