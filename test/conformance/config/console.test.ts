import { expect } from 'chai';
import { freeSwitchConsole } from '../../support/server-programs.ts';

/** Unavoidable messages of a clean start (freeswitch-config/README.md). */
const KNOWN: readonly string[] = [
  'switch_event.c Create additional event dispatch thread 0',
  // Tables dropped before they exist (docs/decisions/0018-channels-are-listed-in-memory.md).
  ...[
    'table: channels',
    'table: calls',
    'view: detailed_calls',
    'view: basic_calls',
    'table: interfaces',
    'table: tasks',
  ].map(
    (what) =>
      `switch_core_sqldb.c [db="file:core?mode=memory&cache=shared",type="core_db"] NATIVE SQL ERR [no such ${what}]`,
  ),
  'sofia.c MSG Thread 0 Started',
  'sofia.c MSG Thread Ended',
];

describe('The console of FreeSWITCH', function () {
  this.timeout(60_000);

  it('a start with the documented command prints nothing', async function () {
    const program = process.env['RINGMASTER_TEST_FREESWITCH'];
    if (program === undefined) this.skip();
    expect(await freeSwitchConsole(program, 'off')).to.equal('');
  });

  it('a clean start without -nc has no warnings and errors, except those about its own threads and database', async function () {
    const program = process.env['RINGMASTER_TEST_FREESWITCH'];
    if (program === undefined) this.skip();
    const printed = await freeSwitchConsole(program, 'on');
    expect(printed).to.contain('Successfully Loaded [mod_sofia]').and.to.contain('Finalizing Shutdown');
    expect(complaints(printed)).to.deep.equal(KNOWN);
  });
});

/** Source file and text of each warning or error, and of failures on any level. */
function complaints(printed: string): string[] {
  return [...printed.matchAll(/^.*? \[([A-Z]+)\] (\S+\.c):\d+ (.*)$/gm)]
    .filter(([, level = '', , text = '']) => ['WARNING', 'ERR', 'CRIT', 'ALERT'].includes(level) || /fail/i.test(text))
    .map(([, , file, text]) => `${file} ${text}`);
}
