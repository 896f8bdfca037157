import { expect } from 'chai';
import { spoken } from '../../components/phrase/words.ts';
import { simulatedServices } from '../../runtime/workbench/simulation/services.ts';
import { VirtualClock } from '../../runtime/workbench/simulation/virtual-clock.ts';
import { problems, simulate } from '../support/scenarios.ts';
import { plays, scenarioOf } from './support.ts';

const NOON = '2026-11-25T12:05:00Z';

describe('component phrase', () => {
  const said = (value: string | number, as: Parameters<typeof spoken>[1], language: string, more = {}) => {
    const { text, prompts } = spoken(value, as, { language, currency: '', timezone: '', ...more });
    // CLDR puts narrow spaces before some units.
    return { text: text.replaceAll(/[\u00a0\u202f]/g, ' '), prompts };
  };

  it('speaks as the language does', () => {
    const texts = {
      en: [
        said(1234.5, 'number', 'en').text,
        said(12.5, 'money', 'en', { currency: 'EUR' }).text,
        said(NOON, 'date', 'en').text,
        said(NOON, 'time', 'en').text,
        said(3723, 'duration', 'en').text,
      ],
      de: [
        said(1234.5, 'number', 'de').text,
        said(12.5, 'money', 'de', { currency: 'EUR' }).text,
        said(NOON, 'date', 'de').text,
        said(NOON, 'time', 'de', { timezone: 'Europe/Berlin' }).text,
        said(3723, 'duration', 'de').text,
      ],
      fr: [said(1, 'money', 'fr', { currency: 'EUR' }).text, said(2, 'money', 'fr', { currency: 'EUR' }).text],
      pl: [said(1, 'duration', 'pl').text, said(3, 'duration', 'pl').text, said(5, 'duration', 'pl').text],
    };
    expect(texts).to.deep.equal({
      en: ['1234.5', '12.50 euros', 'Wednesday, November 25, 2026', '12:05 PM', '1 hour, 2 minutes, and 3 seconds'],
      de: ['1234,5', '12,50 Euro', 'Mittwoch, 25. November 2026', '13:05', '1 Stunde, 2 Minuten und 3 Sekunden'],
      fr: ['1 euro', '2 euros'],
      // One, a few, many.
      pl: ['1 sekunda', '3 sekundy', '5 sekund'],
    });
    expect(said('+49 30 12*#', 'digits', 'de').text).to.equal('+, 4, 9, 3, 0, 1, 2, *, #');
  });

  it('has a prompt for every part, in the order of the language', () => {
    expect(said('40#', 'digits', 'en').prompts).to.deep.equal(['digits/4', 'digits/0', 'digits/hash']);
    expect(said(42, 'number', 'en').prompts).to.deep.equal(['numbers/42']);
    expect(said(12.5, 'money', 'de', { currency: 'eur' }).prompts).to.deep.equal([
      'numbers/12',
      'numbers/50',
      'currencies/EUR',
    ]);
    expect(said(NOON, 'date', 'en').prompts).to.deep.equal(['weekdays/3', 'months/11', 'days/25', 'numbers/2026']);
    expect(said(NOON, 'date', 'de').prompts).to.deep.equal(['weekdays/3', 'days/25', 'months/11', 'numbers/2026']);
    expect(said(NOON, 'time', 'en').prompts).to.deep.equal(['hours/12', 'minutes/5', 'periods/pm']);
    for (const value of [1.5, -1]) expect(said(value, 'number', 'en').prompts).to.deep.equal([]);
    expect(said(1500, 'money', 'en', { currency: 'EUR' }).prompts).to.deep.equal([]);
    expect(said(NOON, 'date', 'ar-EG').prompts).to.deep.equal([]);
  });

  plays('is spoken by the speech engine', {
    block: `
      phrase: { value: 12.5, as: money, currency: EUR }
      next: end`,
    exit: 'next',
    result: { text: '12.50 euros', digit: '' },
    events: ['say 12.50 euros'],
  });

  plays('stops at a digit', {
    block: `
      phrase: { value: "123456", as: digits, stop_digits: "1" }
      exits: { next: end, digit: end }`,
    script: { presses: ['1'] },
    exit: 'digit',
    result: { text: '1, 2, 3, 4, 5, 6', digit: '1' },
  });

  it('is played from prompts when every part is there', async () => {
    const services = simulatedServices({ clock: new VirtualClock() });
    const { prompts } = services;
    const known = new Set(['digits/4', 'digits/2']);
    const withPrompts = {
      ...services,
      prompts: {
        language: () => 'de',
        uploaded: prompts.uploaded.bind(prompts),
        playable: prompts.playable.bind(prompts),
        fetched: prompts.fetched.bind(prompts),
        has: (_domain: string, name: string, language: string) => language === 'de' && known.has(name),
      },
    };
    const eventsOf = async (digits: string) => {
      const block = `phrase: { value: "${digits}", as: digits }\nnext: end`;
      return (await simulate(scenarioOf(block), {}, { services: withPrompts })).events;
    };
    expect(await eventsOf('42')).to.include('play 4 2');
    expect(await eventsOf('43')).to.include('say 4, 3');
  });

  it('refuses a value of another kind, and settings without sense before the run', async () => {
    const errorOf = async (settings: string) =>
      (await simulate(scenarioOf(`phrase: ${settings}\nnext: end`))).outcome.error?.message;
    expect(await errorOf('{ value: many }')).to.equal('"value" must be a number, not "many"');
    expect(await errorOf('{ value: soon, as: date }')).to.match(/^"value" must be a time: ISO 8601/);
    expect(await errorOf('{ value: "0x41", as: digits }')).to.match(/^"value" must be a text of at most 64 digits/);
    expect(await errorOf('{ value: -5, as: duration }')).to.match(/^"value" must be 0 to 8640000 seconds/);
    expect(problems(scenarioOf('phrase: { value: 1, as: money }\nnext: end')).join()).to.include('has no currency');
    expect(problems(scenarioOf('phrase: { value: 1, as: time, timezone: Mars/X }\nnext: end')).join()).to.include(
      'there is no time zone "Mars/X"',
    );
  });
});
