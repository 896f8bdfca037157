import { networkInterfaces } from 'node:os';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { type Config, readConfig } from '../config/index.ts';
import {
  type FirstAccounts,
  type MadeAccount,
  type MadeAccounts,
  makeFirstAccounts,
  featureCodesText,
} from '../iam/index.ts';
import { openStorage } from '../storage/index.ts';
import { numbersOf } from './phone-numbers.ts';
import { textIn } from './text-file.ts';
import { usageOf } from './usage.ts';

const USAGE = `ringmaster init [--domain shop.example] [--admin root] [--password-file FILE] [--sipusers 101-110] [--qr]
  --domain         the domain of the accounts; default voice.internal
  --admin          login of the administrator; default admin
  --password-file  file with the administrator's password, - for standard input; default: one is generated and printed
  --sipusers       numbers of phones: 101-110, 201; each gets a generated password
  --qr             the settings of each phone as a QR code too
The database is that of the settings (RINGMASTER_DATA_DIR, DATABASE_URL). Accounts that exist stay as they are.`;

const DEFAULT_DOMAIN = 'voice.internal';
const WILDCARD = '0.0.0.0';

/**
 * `ringmaster init`: makes the master domain, a domain, its administrator and phones, those that are missing. Exit code 1
 * when the store cannot be opened (a running node holds the embedded database), or refuses the accounts.
 */
export async function init(args: readonly string[]): Promise<number> {
  return usageOf(USAGE, args, async () => {
    const { values } = parseArgs({
      args: [...args],
      options: {
        domain: { type: 'string', default: DEFAULT_DOMAIN },
        admin: { type: 'string', default: 'admin' },
        'password-file': { type: 'string' },
        sipusers: { type: 'string', default: '' },
        qr: { type: 'boolean', default: false },
      },
    });
    const numbers = numbersOf('--sipusers', values.sipusers);
    try {
      const pwd = values['password-file'] === undefined ? undefined : textIn(values['password-file']);
      const config = readConfig(process.env);
      const made = await make(config, {
        domain: values.domain,
        admin: { login: values.admin, pwd },
        sipusers: numbers.map((login) => ({ login })),
      });
      process.stdout.write(report(made, pwd === undefined));
      process.stdout.write(await phonesReport(made, phoneServer(config), values.qr));
      return 0;
    } catch (error) {
      process.stderr.write(`ringmaster: ${(error as Error).message}\n`);
      return 1;
    }
  });
}

async function make({ dataDir, databaseUrl }: Config, wanted: FirstAccounts): Promise<MadeAccounts> {
  const storage = await openStorage({ dataDir, ...(databaseUrl === undefined ? {} : { databaseUrl }) });
  try {
    return await makeFirstAccounts(storage, wanted);
  } finally {
    await storage.close();
  }
}

function report({ domain, admin }: MadeAccounts, isGenerated: boolean): string {
  const lines = [`domain         ${domain.name}${domain.made ? '' : '  (exists)'}`];
  lines.push(`administrator  ${admin.login}${admin.made ? '' : '  (exists)'}`);
  if (domain.made) lines.splice(1, 0, `featurecodes   ${featureCodesText()}`);
  if (admin.made && isGenerated) lines.push(`password       ${admin.pwd}   (not shown again)`);
  return `${lines.join('\n')}\n`;
}

async function phonesReport({ domain, sipusers }: MadeAccounts, server: string, qr: boolean): Promise<string> {
  if (sipusers.length === 0) return '';
  const width = Math.max('user'.length, ...sipusers.map(({ login }) => login.length));
  const lines = [
    '',
    `Phones: server ${server} (UDP or TCP), domain ${domain.name}. Passwords are not shown again.`,
    '',
  ];
  lines.push(`  ${'user'.padEnd(width)}  password`);
  for (const phone of sipusers) {
    lines.push(`  ${phone.login.padEnd(width)}  ${phone.made ? phone.pwd : '(exists)'}`);
    if (qr && phone.made) lines.push('', await drawn(phone, domain.name, server), '');
  }
  return `${lines.join('\n')}\n`;
}

/** The settings as text, which the camera of a phone shows to copy: softphones share no form of QR code. */
async function drawn(phone: MadeAccount & { made: true }, domain: string, server: string): Promise<string> {
  const { renderUnicodeCompact } = await import('uqr');
  return renderUnicodeCompact(`user ${phone.login}\npassword ${phone.pwd}\ndomain ${domain}\nserver ${server}`);
}

/** The address that phones use; for a wildcard, the first one of this machine. */
function phoneServer({ sip: { hosts, port }, publicAddresses }: Config): string {
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const own = addresses.find(({ family, internal }) => family === 'IPv4' && !internal)?.address;
  const [host = WILDCARD] = [...publicAddresses, ...hosts];
  const shown = host === WILDCARD ? (own ?? host) : host;
  return `${shown.includes(':') ? `[${shown}]` : shown}:${port}`;
}
