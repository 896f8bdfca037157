#!/bin/sh
# Makes the prompts of the example scenarios: 8 kHz mono 16-bit PCM, with espeak-ng and sox.
set -eu
cd "$(dirname "$0")"
say() {
  espeak-ng -v en-gb -s 150 --stdout "$2" | sox -V1 - -r 8000 -c 1 -b 16 -D "$1.wav" gain -n -3 silence 1 0.02 0.5% reverse silence 1 0.02 0.5% pad 0.1 0.05 reverse
}
say welcome 'Welcome to Ringmaster.'
say menu 'Press 1 for the first choice, or 2 for the second.'
say choice-1 'You chose one.'
say choice-2 'You chose two.'
say invalid 'That is not a choice.'
say goodbye 'Goodbye.'
