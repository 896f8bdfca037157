import process from 'node:process';

/**
 * Runs a command; arguments that it does not take, or lacks, are told with its usage, which `--help` shows.
 * @returns what the command gives, 0 after the usage was asked for, or 2
 */
export async function usageOf<T>(
  usage: string,
  args: readonly string[],
  command: () => Promise<T>,
): Promise<T | number> {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(`usage: ${usage}\n`);
    return 0;
  }
  try {
    return await command();
  } catch (error) {
    // What parseArgs throws, and what commands throw for arguments of theirs.
    if (!(error instanceof TypeError)) throw error;
    process.stderr.write(
      `${error.message.split('\n')[0]?.replace(/ To specify a positional argument.*$/, '')}\nusage: ${usage}\n`,
    );
    return 2;
  }
}
