// Pictures and a voice that can be sent without looking for any.

const hues = [[222, 258], [12, 40], [150, 190], [285, 330]];

/** Draws a photo. */
export async function picture(n) {
  const canvas = document.createElement('canvas');
  canvas.width = 960;
  canvas.height = 640;
  const c = canvas.getContext('2d');
  const [from, to] = hues[n % hues.length];
  const sky = c.createLinearGradient(0, 0, 0, 640);
  sky.addColorStop(0, `hsl(${from} 70% 62%)`);
  sky.addColorStop(1, `hsl(${to} 75% 82%)`);
  c.fillStyle = sky;
  c.fillRect(0, 0, 960, 640);
  c.fillStyle = 'rgb(255 255 255 / 85%)';
  c.beginPath();
  c.arc(700 - n * 120, 170 + n * 24, 62, 0, 2 * Math.PI);
  c.fill();
  for (let hill = 0; hill < 3; hill += 1) {
    c.fillStyle = `hsl(${from} ${38 - hill * 6}% ${46 - hill * 12}%)`;
    c.beginPath();
    c.moveTo(0, 640);
    for (let x = 0; x <= 960; x += 12) c.lineTo(x, 400 + hill * 70 + Math.sin(x / (150 - hill * 25) + n * 2 + hill * 1.7) * (54 - hill * 8));
    c.lineTo(960, 640);
    c.fill();
  }
  const blob = await new Promise((done) => canvas.toBlob(done, 'image/jpeg', 0.85));
  return new File([blob], `photo-${n + 1}.jpg`, { type: 'image/jpeg' });
}

/** Gives a short sound in the format of voice messages: Opus in Ogg. */
export async function voice() {
  const response = await fetch('voice.ogg');
  return new File([await response.blob()], 'voice.ogg', { type: 'audio/ogg' });
}
