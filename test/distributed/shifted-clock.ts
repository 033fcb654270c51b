// Loaded before a service: its machine's clock is so many milliseconds ahead of the others'.

const shiftMs = Number(process.env.TEST_CLOCK_SHIFT_MS);
const rightNow = Date.now.bind(Date);
Date.now = () => rightNow() + shiftMs;
