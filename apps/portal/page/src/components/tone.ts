let context: AudioContext | undefined;
let isPlaying = false;

/** Permits later tones. Browsers accept it only from a click or a key press. */
export function permitTone(): void {
  try {
    context ??= new AudioContext();
  } catch {
    // Without a device for sound.
  }
}

/** Whether `permitTone` was called in this tab. */
export function mayPlayTone(): boolean {
  return context !== undefined;
}

/** Plays one short, soft tone. Does nothing if `permitTone` was never called, a tone is playing, or the browser does not permit it. */
export async function playTone(): Promise<void> {
  if (!context || isPlaying) return;
  isPlaying = true;
  try {
    await context.resume();
    await play(context);
    // Otherwise it keeps the audio device busy.
    await context.suspend();
  } catch {
    // A tone is never worth an error.
  }
  isPlaying = false;
}

function play(context: AudioContext): Promise<void> {
  const oscillator = context.createOscillator();
  const volume = context.createGain();
  const now = context.currentTime;
  oscillator.frequency.value = 660;
  // Rises and falls without a click.
  volume.gain.setValueAtTime(0, now);
  volume.gain.linearRampToValueAtTime(0.1, now + 0.02);
  volume.gain.linearRampToValueAtTime(0, now + 0.4);
  oscillator.connect(volume).connect(context.destination);
  oscillator.start(now);
  oscillator.stop(now + 0.4);
  return new Promise((resolve) => {
    oscillator.onended = () => resolve();
  });
}
