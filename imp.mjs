const t=()=>{const u=process.cpuUsage();return (u.user+u.system)/1000}
const mods=process.argv.slice(2)
let a=t(); console.log('start',a)
for(const m of mods){await import(m);const b=t();console.log(Math.round(b-a),m);a=b}
