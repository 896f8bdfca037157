import process from 'node:process';

/**
 * Runs a command. `--help` prints its usage; unknown or missing arguments print an error and the usage.
 * @param help printed by `--help` in place of a usage that is only one line of it
 * @returns the command's exit code; 0 after `--help`; 2 after wrong arguments
 */
export async function usageOf<T>(
  usage: string,
  args: readonly string[],
  command: () => Promise<T>,
  help: string = usage,
): Promise<T | number> {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(`usage: ${help}\n`);
    return 0;
  }
  try {
    return await command();
  } catch (error) {
    // Thrown by parseArgs, and by commands for wrong arguments.
    if (!(error instanceof TypeError)) throw error;
    process.stderr.write(
      `${error.message.split('\n')[0]?.replace(/ To specify a positional argument.*$/, '')}\nusage: ${usage}\n`,
    );
    return 2;
  }
}
