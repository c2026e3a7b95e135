package main
import ("fmt";"os";"strings";"context";"github.com/projected-likelihood/gppl/pkg/forecast")
func init(){
 if os.Getenv("ZZ")=="" {return}
 var seed uint64; var name string
 fmt.Sscan(os.Getenv("ZZ"),&seed); name=os.Getenv("ZN")
 for _,d:=range structured(seed){ if strings.Contains(d.name,name){
  a,_:=forecast.Fit(context.Background(),d.s,forecast.Options{})
  fmt.Println(d.name)
  for _,c:=range a.Candidates { fmt.Printf("%9.2f %9.2f rough=%v %s %v\n    %s\n",c.Score,c.NLL,c.Rough,c.Name(),c.Seasons,c.Model)}
 }}
 os.Exit(0)
}
