/** A command of `ringmaster`; returns the exit code, or undefined while it keeps running. */
interface Command {
  readonly usage: string;
  readonly about: string;
  run(args: readonly string[]): Promise<number | undefined>;
}

const COMMANDS: Readonly<Record<string, Command>> = {
  start: {
    usage: 'start',
    about: 'run a node; settings come from the environment',
    run: async (args) => (await import('./start.ts')).start(args),
  },
  init: {
    usage: 'init [--domain D] [--admin A] [--sipusers 101-110]',
    about: 'make the first domain, its administrator, and phones',
    run: async (args) => (await import('./init.ts')).init(args),
  },
  login: {
    usage: 'login DOMAIN LOGIN',
    about: 'a token for the commands that ask a node',
    run: async (args) => (await import('./login.ts')).login(args),
  },
  domain: entityCommand('domain', '[add NAME]', 'list the domains of a node, or make one'),
  user: entityCommand('user', '[add LOGIN ...]', 'list the users of a domain, or make one'),
  sipuser: entityCommand('sipuser', '[add 101-110 ...]', 'list the phones of a domain, or make some'),
  trunk: entityCommand('trunk', '[add CODE host=HOST ...]', 'list the providers of a domain, or make one'),
  drain: {
    usage: 'drain [--seconds N] [--cancel]',
    about: 'end a node after its last call; it takes no new ones',
    run: async (args) => (await import('./drain.ts')).drain(args),
  },
  load: {
    usage: 'load [--rate N] [--calls N] [OPTION...]',
    about: 'calls at a rate against a node, their sound checked, and a report',
    run: async (args) => (await import('./load.ts')).load(args),
  },
  check: {
    usage: 'check [--json] FILE|FOLDER...',
    about: 'find every mistake in scenario files',
    run: async (args) => (await import('./check.ts')).check(args),
  },
  simulate: {
    usage: 'simulate FILE [--press 1,2#] [OPTION...]',
    about: 'run a scenario against a scripted caller, without SIP',
    run: async (args) => (await import('./simulate.ts')).simulate(args),
  },
  test: {
    usage: 'test [FOLDER...]',
    about: 'run the tests beside scenarios (*.test.yaml)',
    run: async (args) => (await import('./test.ts')).test(args),
  },
  trace: {
    usage: 'trace [ID] [--as-test]',
    about: 'show the trace of a live or finished run of a node, or list the latest',
    run: async (args) => (await import('./trace.ts')).trace(args),
  },
  ladder: {
    usage: 'ladder CALL [--html FILE] [--pcap FILE]',
    about: 'draw the SIP messages of a call of the last hour',
    run: async (args) => (await import('./ladder.ts')).ladder(args),
  },
  debug: {
    usage: 'debug SCENARIO [--from 101 | --off]',
    about: 'make the next run of a scenario of a node wait for a debugger',
    run: async (args) => (await import('./debug.ts')).debug(args),
  },
  schema: {
    usage: 'schema [FILE... | --types | --mermaid FILE]',
    about: 'JSON Schema of scenarios, types for modules, a drawing',
    run: async (args) => (await import('./schema.ts')).schema(args),
  },
  client: {
    usage: 'client [--url URL] [--token T]',
    about: 'a TypeScript client of the REST service of a node',
    run: async (args) => (await import('./client.ts')).client(args),
  },
  'freeswitch-config': {
    usage: 'freeswitch-config SIZING-FILE TARGET-FOLDER',
    about: 'the configuration of a real drachtio-server and FreeSWITCH',
    run: async (args) => (await import('./freeswitch-config.ts')).freeswitchConfig(args),
  },
  embedded: {
    usage: 'embedded OPTION...',
    about: 'the embedded SIP and media servers alone',
    run: async (args) => (await import('./embedded.ts')).embedded(args),
  },
};

function entityCommand(name: 'domain' | 'user' | 'sipuser' | 'trunk', args: string, about: string): Command {
  return {
    usage: `${name} ${args}`,
    about,
    run: async (given) => (await import('./entities.ts')).entities(name, given),
  };
}

/** Servers, which continue after their output is closed. */
const SERVERS: ReadonlySet<string> = new Set(['start', 'embedded']);
/** The exit code after SIGPIPE. */
const BROKEN_PIPE = 141;

/** Runs the command named by the arguments. */
export async function main(args: readonly string[]): Promise<void> {
  const [name = 'help', ...rest] = args;
  if (name === 'help' || name === '--help' || name === '-h') {
    process.stdout.write(help());
    return;
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) {
    process.stderr.write(`ringmaster: unknown command "${name}"\n\n${help()}`);
    process.exitCode = 2;
    return;
  }
  if (!SERVERS.has(name)) process.stdout.on('error', endQuietly);
  const code = await command.run(rest);
  if (code !== undefined) process.exitCode = code;
}

/** The reader of the output may close it, like `head`: not an error of the command. */
function endQuietly(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
  process.exit(BROKEN_PIPE);
}

function help(): string {
  const width = Math.max(...Object.values(COMMANDS).map(({ usage }) => usage.length));
  const lines = Object.values(COMMANDS).map(({ usage, about }) => `  npx ringmaster ${usage.padEnd(width)}  ${about}`);
  return `Ringmaster: a scenario runtime for telephony.\n\n${lines.join('\n')}\n\nnpx ringmaster COMMAND --help tells its options.\n`;
}
