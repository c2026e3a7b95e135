"""Prints reference values of forecasts of counts, by sums of long doubles over fine grids: python3 counts.py CASES SEED > counts.txt

Each line has the likelihood (p, n, b), its shape, the size, mean and variance of g, y, log p(y) and P(Y <= y) (-1: none).
"""
import math
import random
import sys

import mpmath as mp
import numpy as np
from scipy.special import ndtr

mp.mp.dps=30
N=int(sys.argv[1]); random.seed(int(sys.argv[2]))
LD=np.longdouble
def lu(a,b): return a*(b/a)**random.random()
def run(kind,r,size,m,sd,y):
    # grid in g wide enough
    lw={'p':lambda: 1/math.sqrt(y+1),'n':lambda: math.sqrt(1/(y+1)+1/r),'b':lambda: math.sqrt(1/(y+1)+1/(size-y+1))}[kind]()
    y0=max(y,.5)
    c=math.log(y0/size) if kind!='b' else math.log(y0/max(size-y,.5))
    h=min(sd,lw)/8
    lo,hi=m-11*sd,m+11*sd
    # restrict logp to the region near c when the likelihood is narrow
    n=int((hi-lo)/h)+1
    if n>400000:
        lo2,hi2=max(lo,c-60*lw),min(hi,c+60*lw)
        if lo2>=hi2: return None
        lo,hi=lo2,hi2; n=int((hi-lo)/h)+1
    g=LD(lo)+LD(h)*np.arange(n+1,dtype=LD)
    M,S=LD(m),LD(sd)
    logN=-((g-M)/S)**2/2-np.log(S)-LD('0.91893853320467274178')
    yy=LD(y)
    def c0(v): return LD(mp.nstr(v,25))
    if kind=='p':
        cst=c0(-mp.loggamma(mp.mpf(y)+1)); lg=g+np.log(LD(size))
        lp=cst+yy*lg-np.exp(lg); lh=lp+lg
    elif kind=='n':
        R=LD(r); cst=c0(mp.loggamma(mp.mpf(y)+mp.mpf(r))-mp.loggamma(mp.mpf(r))-mp.loggamma(mp.mpf(y)+1)+ (mp.mpf(y)*-mp.log(r)))
        lg=g+np.log(LD(size)); q=np.exp(lg)/R
        lp=cst+yy*lg-(yy+R)*np.log1p(q); lh=lp+np.log(yy+R)+lg-np.log(R)-np.log1p(q)
    else:
        cst=c0(mp.loggamma(mp.mpf(size)+1)-mp.loggamma(mp.mpf(y)+1)-mp.loggamma(mp.mpf(size-y)+1))
        sp=np.logaddexp(LD(0),g)
        lp=cst+yy*g-LD(size)*sp; lh=lp+np.log(LD(max(size-y,1e-300)))+g-sp
    t=lp+logN; mx=t.max(); logp=float(mx+np.log(np.exp(t-mx).sum()*LD(h)))
    # cdf = int h_y(g) Phi((g-m)/sd)
    if kind=='b' and y==size: cdf=1.
    else:
        lo3,hi3=c-80*lw-(45 if y<3 else 0),c+40*lw+(60/r if kind=='n' and r<3 else 0)
        n3=int((hi3-lo3)/(lw/10)); h3=LD(min(lw,sd)/8) if sd<lw else LD(lw/10)
        # Phi varies on sd: refine if sd<lw
        n3=int((hi3-lo3)/float(h3))
        if n3>2000000: return logp,None
        G=LD(lo3)+h3*np.arange(n3,dtype=LD)
        if kind=='p':
            l=G+np.log(LD(size)); L=cst+(yy+1)*l-np.exp(l)
        elif kind=='n':
            l=G+np.log(LD(size)); q=np.exp(l)/R; L=cst+yy*l-(yy+R)*np.log1p(q)+np.log(yy+R)+l-np.log(R)-np.log1p(q)
        else:
            sp=np.logaddexp(LD(0),G); L=cst+yy*G-LD(size)*sp+np.log(LD(size-y))+G-sp
        cdf=float((np.exp(L)*ndtr(((G-M)/S).astype(float))).sum()*h3)
    return logp,cdf
i=0
while i<N:
    kind=random.choice('pnb'); sd=lu(1e-3,3); r=lu(.1,1e4) if random.random()<.6 else lu(1e4,1e15)
    mu=lu(1,1e6)
    z=random.gauss(0,1.3)
    if kind=='b':
        size=float(round(lu(1,1e6))); m=random.gauss(0,2); g=m+sd*z
        p=1/(1+math.exp(-g)); y=float(min(size,max(0,round(size*p+math.sqrt(size*p*(1-p))*random.gauss(0,1)))))
    else:
        size=lu(.1,100); m=math.log(mu/size); g=m+sd*z; l=size*math.exp(g)
        y=float(max(0,round(l+math.sqrt(l+(l*l/r if kind=='n' else 0))*random.gauss(0,1))))
    res=run(kind,r,size,m,sd,y)
    if res is None: continue
    lp,cdf=res
    i+=1
    print(kind,repr(r),repr(size),repr(m),repr(sd*sd),repr(y),repr(lp),repr(-1 if cdf is None else cdf),flush=True)
